#include "codegen/machine.hpp"

#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/X86TargetParser.h>

#include <mutex>
#include <stdexcept>

namespace nuna::compiler {

namespace {

std::string joined(const std::vector<std::string>& features) {
  std::string all;
  for (const auto& feature : features) all += (all.empty() ? "+" : ",+") + feature;
  return all;
}

/// Parts of code generation that take minutes for functions as large as the blocks of a radix sort.
void spare_large_functions() {
  std::vector<const char*> arguments{"nunacc"};
  auto add = [&](const char* argument) {
    const auto name = llvm::StringRef(argument).ltrim('-').split('=').first;
    if (llvm::cl::getRegisteredOptions().count(name) != 0) arguments.push_back(argument);
  };
  add("-disable-x86-domain-reassignment");  // moves a little work to mask registers
  add("-disable-lsr");                      // optimise.cpp does it where it pays
  add("-cgpp-huge-func=100");  // blocks; above, CodeGenPrepare looks again at what a change made, not at everything
  llvm::cl::ParseCommandLineOptions(static_cast<int>(arguments.size()), arguments.data());
}

void set_up() {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  llvm::InitializeNativeTargetAsmParser();
  spare_large_functions();
}

}  // namespace

std::string host_features() {
  std::vector<std::string> features;
  for (const auto& feature : llvm::sys::getHostCPUFeatures()) {
    if (feature.second) features.push_back(feature.first().str());
  }
  std::sort(features.begin(), features.end());
  return joined(features);
}

std::string features_of(const std::string& cpu) {
  llvm::SmallVector<llvm::StringRef, 64> found;
  llvm::X86::getFeaturesForCPU(cpu, found);
  std::vector<std::string> features(found.begin(), found.end());
  std::sort(features.begin(), features.end());
  return joined(features);
}

std::unique_ptr<llvm::TargetMachine> make_machine(const std::string& cpu) {
  static std::once_flag once;  // parts of a module make their machines side by side
  std::call_once(once, set_up);
  const auto triple = llvm::sys::getDefaultTargetTriple();
  std::string problem;
  const auto* target = llvm::TargetRegistry::lookupTarget(triple, problem);
  if (target == nullptr) throw std::runtime_error(problem);
  const bool native = cpu == "native";
  const std::string name = native ? llvm::sys::getHostCPUName().str() : cpu;
  llvm::TargetOptions options;
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(triple, name, native ? host_features() : "", options, llvm::Reloc::PIC_,
                                  std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  if (machine == nullptr || !machine->getMCSubtargetInfo()->isCPUStringValid(name)) {
    throw std::runtime_error("-march=" + cpu + ": LLVM knows no such machine");
  }
  return machine;
}

}  // namespace nuna::compiler
