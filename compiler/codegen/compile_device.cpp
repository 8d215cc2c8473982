#include "codegen/compile_device.hpp"

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/IR/ReplaceConstant.h>
#include <llvm/IR/Verifier.h>
#include <llvm/IRReader/IRReader.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

#include <stdexcept>

#include "codegen/analyses.hpp"
#include "codegen/block_call.hpp"
#include "codegen/block_code.hpp"
#include "codegen/device_functions.hpp"
#include "codegen/device_module.hpp"
#include "codegen/image.hpp"
#include "codegen/interchange.hpp"
#include "codegen/interior.hpp"
#include "codegen/machine.hpp"
#include "nuna_cudart/image.h"

namespace nuna::compiler {

namespace {

std::unique_ptr<llvm::Module> read(const std::vector<std::string>& files, llvm::LLVMContext& context) {
  std::unique_ptr<llvm::Module> all;
  for (const auto& file : files) {
    llvm::SMDiagnostic problem;
    auto module = llvm::parseIRFile(file, problem, context);
    if (module == nullptr) throw std::runtime_error(file + ": " + problem.getMessage().str());
    if (all == nullptr) {
      all = std::move(module);
    } else if (llvm::Linker::linkModules(*all, std::move(module))) {
      throw std::runtime_error(file + ": its device code cannot be linked with that of the other files");
    }
  }
  return all;
}

/// blockIdx * blockDim + threadIdx does not wrap in launches of less than 2^31 threads along each axis; others of this kernel are
/// refused (NUNA_KERNEL_31_BIT_INDICES). Returns whether the kernel counts so.
bool assume_31_bit_indices(llvm::Function& kernel) {
  using namespace llvm::PatternMatch;
  bool found = false;
  for (auto& instruction : llvm::instructions(kernel)) {
    llvm::Value* block = nullptr;
    llvm::Value* size = nullptr;
    llvm::Value* thread = nullptr;
    if (!match(&instruction, m_c_Add(m_c_Mul(m_Value(block), m_Value(size)), m_Value(thread)))) continue;
    auto axis_of = [](llvm::Value* value, unsigned first) -> int {
      auto* call = llvm::dyn_cast<llvm::Instruction>(value);
      const auto k = call != nullptr ? special_register_of(*call) : std::nullopt;
      return k && *k >= first && *k < first + 3 ? static_cast<int>(*k - first) : -1;
    };
    if (axis_of(block, kBlockIdx) < 0) std::swap(block, size);
    const int axis = axis_of(block, kBlockIdx);
    if (axis < 0 || axis_of(size, kBlockDim) != axis || axis_of(thread, kThreadIdx) != axis) continue;
    auto* product =
        llvm::cast<llvm::Instruction>(instruction.getOperand(instruction.getOperand(0) == thread ? 1 : 0));
    for (auto* part : {product, &instruction}) {
      part->setHasNoSignedWrap(true);
      part->setHasNoUnsignedWrap(true);
    }
    found = true;
  }
  return found;
}

/// Kernels of more instructions are compiled once, for blocks of any shape.
constexpr std::size_t kLargestCopied = 3000;

/// A kernel cut at its suspensions, and where its blocks keep things.
struct PlannedKernel {
  ThreadCode code;
  BlockMemory memory;
};

std::vector<Shape> shapes_of(const ThreadCode& code) {
  if (code.instructions > kLargestCopied) return {{0, false}};
  if (code.warps) return {{0, true}, {0, false}};
  if (code.registers[kThreadIdx + 1] != nullptr) return {{16, false}, {32, false}, {0, false}};
  return {{0, false}};
}

using MakeForShape = llvm::function_ref<llvm::Function*(const Shape&)>;

/// The function that runs the code for a call's shape of blocks.
llvm::Function* choose_shape(const std::vector<Shape>& shapes, const std::string& name, MakeForShape make) {
  if (shapes.size() == 1) return make(shapes[0]);
  std::vector<llvm::Function*> functions;
  for (const auto& shape : shapes) functions.push_back(make(shape));
  auto* last = functions.back();
  auto* run = llvm::Function::Create(last->getFunctionType(), llvm::GlobalValue::InternalLinkage,
                                     name + ".run", last->getParent());
  auto& context = run->getContext();
  llvm::IRBuilder<> at(llvm::BasicBlock::Create(context, "", run));
  auto* x = BlockCall(at, *run).block(0);
  for (std::size_t i = 0; i + 1 < shapes.size(); ++i) {
    auto* fits = shapes[i].whole_warps ? at.CreateICmpEQ(at.CreateAnd(x, 31), at.getInt32(0))
                                       : at.CreateICmpEQ(x, at.getInt32(shapes[i].x));
    auto* here = llvm::BasicBlock::Create(context, "", run);
    auto* next = llvm::BasicBlock::Create(context, "", run);
    at.CreateCondBr(fits, here, next);
    at.SetInsertPoint(here);
    at.CreateCall(functions[i], {run->getArg(0)})->setTailCall();
    at.CreateRetVoid();
    at.SetInsertPoint(next);
  }
  at.CreateCall(last, {run->getArg(0)})->setTailCall();
  at.CreateRetVoid();
  return run;
}

/// Drops what LLVM says of loops that it did not unroll although a pragma asks for it: programs write that for GPUs.
struct WithoutMissedUnrolling : llvm::DiagnosticHandler {
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    return info.getKind() == llvm::DK_OptimizationFailure;
  }
};

class DeviceCompiler {
 public:
  explicit DeviceCompiler(const DeviceOptions& options)
      : options_(options), machine_(make_machine(options.cpu)) {
    context_.setDiagnosticHandler(std::make_unique<WithoutMissedUnrolling>());
  }

  void compile() {
    device_ = retarget(read(options_.bitcode, context_), *machine_);
    print("retargeted");
    simplify(device_, *machine_);
    print("simplified");
    spell_out_shared_addresses();
    if (!options_.debug) llvm::StripDebugInfo(*device_.module);
    const auto common = common_shared(device_);
    const bool state_is_read = read_thread_state(device_, common);
    Image image{options_.id,
                options_.cpu == "native" ? host_features() : features_of(options_.cpu),
                {},
                device_.variables,
                {}};
    for (auto& kernel : device_.kernels) image.kernels.push_back(make_kernel(kernel, common, state_is_read));
    forget_threads();
    add_image(*device_.module, image);
    for (auto* variable : device_.variables) variable->setLinkage(llvm::GlobalValue::InternalLinkage);
    print("blocks");
    std::string problems;
    llvm::raw_string_ostream stream(problems);
    if (llvm::verifyModule(*device_.module, &stream)) {
      throw std::logic_error("nunacc has made code that LLVM refuses; this is a mistake of nunacc: " +
                             problems);
    }
    Analyses analyses(*machine_);
    analyses.builder()
        .buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3)
        .run(*device_.module, analyses.modules());
    print("optimised");
    write_object();
  }

 private:
  /// Addresses of shared variables inside constant expressions become instructions, which block memory can replace.
  void spell_out_shared_addresses() {
    std::vector<llvm::Constant*> shared;
    for (const auto& variable : device_.shared) shared.push_back(variable.variable);
    llvm::convertUsersOfConstantsToInstructions(shared);
  }

  ImageKernel make_kernel(const Kernel& kernel, const CommonShared& common, bool state_is_read) {
    const bool counts = assume_31_bit_indices(*kernel.function);
    auto guards = find_guards(*kernel.function);
    if (kernel.function->getInstructionCount() > kLargestCopied) guards.clear();
    llvm::Function* test = nullptr;
    std::optional<PlannedKernel> interior;
    if (!guards.empty()) {
      test = make_interior_test(*kernel.function, guards, kernel.name + ".is_interior");
      auto* copy = make_interior_kernel(*kernel.function, guards, *machine_);
      single_threads_.push_back(copy);
      spell_out_shared_addresses();
      interior.emplace(plan(*copy, common, state_is_read));
    }
    const auto whole = plan(*kernel.function, common, state_is_read);
    auto* run = choose_shape(shapes_of(whole.code), kernel.name, [&](const Shape& shape) {
      auto* all = make_block_function(whole.code, whole.memory, shape, kernel.name + ".blocks");
      if (!interior) return all;
      auto* inner = make_block_function(interior->code, interior->memory, shape, kernel.name + ".interior");
      return make_interior_choice(*test, *inner, *all, kernel.name + ".choice");
    });
    ImageKernel made{kernel.name,
                     run,
                     kernel.parameter_bytes,
                     counts ? static_cast<std::uint32_t>(NUNA_KERNEL_31_BIT_INDICES) : 0u,
                     static_cast<std::uint32_t>(whole.memory.shared_bytes),
                     kernel.max_threads,
                     whole.memory.fixed_bytes,
                     whole.memory.thread_bytes};
    if (interior) {
      made.fixed_bytes = std::max(made.fixed_bytes, interior->memory.fixed_bytes);
      made.thread_bytes = std::max(made.thread_bytes, interior->memory.thread_bytes);
    }
    return made;
  }

  PlannedKernel plan(llvm::Function& function, const CommonShared& common, bool state_is_read) {
    interchange_uniform_loops(function);
    auto code = plan_threads(function);
    code.calls_with_state = state_is_read && calls_functions(function);
    for (const auto& shared : device_.shared) {
      if (shared.dynamic) code.dynamic_shared.push_back(shared.variable);
    }
    auto memory = lay_out(code, device_, common);
    return {std::move(code), std::move(memory)};
  }

  static bool calls_functions(llvm::Function& kernel) {
    for (auto& instruction : llvm::instructions(kernel)) {
      const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      if (call == nullptr) continue;
      const auto* called = call->getCalledFunction();
      if (called == nullptr || !called->isDeclaration()) return true;
    }
    return false;
  }

  /// The code for single threads has served.
  void forget_threads() {
    for (auto& kernel : device_.kernels) single_threads_.push_back(kernel.function);
    for (auto* function : single_threads_) function->deleteBody();
    for (auto* function : single_threads_) {
      function->replaceAllUsesWith(llvm::PoisonValue::get(function->getType()));
      function->eraseFromParent();
    }
    for (auto& shared : device_.shared) {
      shared.variable->removeDeadConstantUsers();
      shared.variable->replaceAllUsesWith(llvm::PoisonValue::get(shared.variable->getType()));
      shared.variable->eraseFromParent();
    }
  }

  void print(const char* step) {
    if (options_.print_ir.empty()) return;
    std::error_code problem;
    llvm::raw_fd_ostream to(options_.print_ir + "." + step + ".ll", problem);
    device_.module->print(to, nullptr);
  }

  void write_object() {
    std::error_code problem;
    llvm::raw_fd_ostream to(options_.object, problem);
    if (problem) throw std::runtime_error(options_.object + ": " + problem.message());
    llvm::legacy::PassManager passes;
    if (machine_->addPassesToEmitFile(passes, to, nullptr, llvm::CodeGenFileType::ObjectFile)) {
      throw std::logic_error("this LLVM writes no objects for this machine");
    }
    passes.run(*device_.module);
    to.close();
    if (to.has_error()) throw std::runtime_error(options_.object + ": " + to.error().message());
  }

  const DeviceOptions& options_;
  std::unique_ptr<llvm::TargetMachine> machine_;
  llvm::LLVMContext context_;
  DeviceModule device_;
  std::vector<llvm::Function*> single_threads_;  ///< copies of kernels
};

}  // namespace

void compile_device(const DeviceOptions& options) { DeviceCompiler(options).compile(); }

}  // namespace nuna::compiler
