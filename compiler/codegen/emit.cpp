#include "codegen/emit.hpp"

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MD5.h>
#include <llvm/Support/Program.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/SplitModule.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <stdexcept>
#include <thread>

#include "codegen/machine.hpp"
#include "codegen/optimise.hpp"

namespace nuna::compiler {

namespace {

constexpr std::size_t kInstructionsOfPart = 10000;
constexpr unsigned kMostParts = 32;

/// Drops what LLVM says of loops that it did not unroll although a pragma asks for it: programs write that for GPUs.
struct WithoutMissedUnrolling : llvm::DiagnosticHandler {
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    return info.getKind() == llvm::DK_OptimizationFailure;
  }
};

void write_object(llvm::Module& module, llvm::TargetMachine& machine, const std::string& object) {
  std::error_code problem;
  llvm::raw_fd_ostream to(object, problem);
  if (problem) throw std::runtime_error(object + ": " + problem.message());
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, to, nullptr, llvm::CodeGenFileType::ObjectFile))
    throw std::logic_error("this LLVM writes no objects for this machine");
  passes.run(module);
  to.close();
  if (to.has_error()) throw std::runtime_error(object + ": " + to.error().message());
}

void emit_whole(llvm::Module& module, const Emission& emission, const std::string& object,
                const std::string& number) {
  module.getContext().setDiagnosticHandler(std::make_unique<WithoutMissedUnrolling>());
  const auto machine = make_machine(emission.cpu);
  optimise(module, *machine);
  if (!emission.print_ir.empty()) {
    std::error_code problem;
    llvm::raw_fd_ostream to(emission.print_ir + ".optimised" + number + ".ll", problem);
    module.print(to, nullptr);
  }
  write_object(module, *machine, object);
}

/// What only this image has: of its id, else (device links have none) of what it shares.
std::string suffix_of(const Emission& emission, const std::vector<llvm::GlobalValue*>& shared) {
  if (!emission.id.empty()) return "." + emission.id;
  llvm::MD5 sum;
  for (const auto* value : shared) sum.update(value->getName());
  return "." + std::string(sum.final().digest());
}

/// Lets parts refer to each other's values, and no other object.
void share(const std::vector<llvm::GlobalValue*>& shared, const std::string& suffix) {
  for (auto* value : shared) {
    if (!value->hasLocalLinkage()) continue;
    value->setName(value->getName() + suffix);
    value->setLinkage(llvm::GlobalValue::ExternalLinkage);
    value->setVisibility(llvm::GlobalValue::HiddenVisibility);
    value->setDSOLocal(true);
  }
}

/// Parts of a module as they become ready: those that are behind are cut while others are compiled.
class Parts {
 public:
  explicit Parts(unsigned count) : all_(count) {}

  void cut(llvm::Module& module) {
    llvm::SplitModule(
        module, static_cast<unsigned>(all_.size()),
        [&](std::unique_ptr<llvm::Module> part) {
          llvm::raw_svector_ostream to(all_[ready_]);
          llvm::WriteBitcodeToFile(*part, to);
          ++ready_;
          ready_.notify_all();
        },
        /*PreserveLocals=*/true);
  }

  /// Waits for it.
  llvm::StringRef part(std::size_t i) const {
    for (auto ready = ready_.load(); ready <= i; ready = ready_.load()) ready_.wait(ready);
    return {all_[i].data(), all_[i].size()};
  }

 private:
  std::vector<llvm::SmallVector<char, 0>> all_;  ///< bitcode
  std::atomic<std::size_t> ready_{0};            ///< the first so many
};

std::vector<std::string> emit_parts(std::unique_ptr<llvm::Module> module, unsigned count,
                                    const Emission& emission) {
  Parts parts(count);
  std::vector<std::string> objects;
  for (std::size_t i = 0; i < count; ++i) objects.push_back(emission.object + "." + std::to_string(i));
  std::vector<std::exception_ptr> problems(count);
  std::atomic<std::size_t> next{0};
  auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        llvm::LLVMContext context;
        const llvm::MemoryBufferRef bitcode(parts.part(i), objects[i]);
        const auto part = llvm::cantFail(llvm::parseBitcodeFile(bitcode, context));
        emit_whole(*part, emission, objects[i], "." + std::to_string(i));
      } catch (...) {
        problems[i] = std::current_exception();
      }
    }
  };
  std::vector<std::thread> others;
  const auto threads = std::min<std::size_t>(count, std::thread::hardware_concurrency());
  for (std::size_t i = 1; i < threads; ++i) others.emplace_back(work);
  parts.cut(*module);
  module.reset();
  work();
  for (auto& other : others) other.join();
  for (const auto& problem : problems) {
    if (problem) std::rethrow_exception(problem);
  }
  return objects;
}

void join(const std::vector<std::string>& objects, const Emission& emission) {
  const auto linker = llvm::sys::findProgramByName(emission.linker);
  if (!linker) throw std::runtime_error(emission.linker + ": " + linker.getError().message());
  std::vector<llvm::StringRef> words{emission.linker, "-r", "-o", emission.object};
  words.insert(words.end(), objects.begin(), objects.end());
  std::string problem;
  const int status = llvm::sys::ExecuteAndWait(*linker, words, std::nullopt, {}, 0, 0, &problem);
  for (const auto& object : objects) llvm::sys::fs::remove(object);
  if (status != 0) throw std::runtime_error(emission.object + ": " + emission.linker + " failed " + problem);
}

}  // namespace

unsigned parts_of(std::size_t instructions) {
  return static_cast<unsigned>(std::clamp<std::size_t>(instructions / kInstructionsOfPart, 1, kMostParts));
}

void emit(std::unique_ptr<llvm::Module> module, const std::vector<llvm::GlobalValue*>& shared,
          const Emission& emission) {
  const unsigned count = parts_of(module->getInstructionCount());
  if (count == 1) {
    emit_whole(*module, emission, emission.object, "");
    return;
  }
  share(shared, suffix_of(emission, shared));
  join(emit_parts(std::move(module), count, emission), emission);
}

}  // namespace nuna::compiler
