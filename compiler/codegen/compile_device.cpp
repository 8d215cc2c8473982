#include "codegen/compile_device.hpp"

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/IR/ReplaceConstant.h>
#include <llvm/IR/Verifier.h>
#include <llvm/IRReader/IRReader.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

#include <map>
#include <numeric>
#include <sstream>
#include <stdexcept>

#include "access/model.hpp"
#include "codegen/audit.hpp"
#include "codegen/block_call.hpp"
#include "codegen/block_code.hpp"
#include "codegen/device_functions.hpp"
#include "codegen/device_module.hpp"
#include "codegen/diagnostics.hpp"
#include "codegen/emit.hpp"
#include "codegen/image.hpp"
#include "codegen/interchange.hpp"
#include "codegen/interior.hpp"
#include "codegen/machine.hpp"
#include "codegen/path_flags.hpp"
#include "codegen/shared_atomics.hpp"
#include "codegen/warp_exchanges.hpp"
#include "codegen/warp_synchronous.hpp"
#include "codegen/wide_indices.hpp"
#include "nuna_cudart/image.h"

namespace nuna::compiler {

namespace {

/// Of a linked unit: clang names a static variable anew when host code uses it, but not in kernels that stand before that.
void bind_static_variables(llvm::Module& unit) {
  for (auto& variable : llvm::make_early_inc_range(unit.globals())) {
    if (!variable.isDeclaration()) continue;
    const std::string renamed = variable.getName().str() + "__static__";
    const auto found = llvm::find_if(unit.globals(), [&](const llvm::GlobalVariable& other) {
      return !other.isDeclaration() && other.getName().starts_with(renamed);
    });
    if (found == unit.global_end()) continue;
    variable.replaceAllUsesWith(&*found);
    variable.eraseFromParent();
  }
}

std::unique_ptr<llvm::Module> read(const std::vector<std::string>& files, llvm::LLVMContext& context) {
  std::unique_ptr<llvm::Module> all;
  for (const auto& file : files) {
    llvm::SMDiagnostic problem;
    auto module = llvm::parseIRFile(file, problem, context);
    if (module == nullptr) throw std::runtime_error(file + ": " + problem.getMessage().str());
    bind_static_variables(*module);
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

/// Kernels of up to so many have code of their own for the most usual size of blocks of one axis.
constexpr std::size_t kSmall = 60;

/// A kernel cut at its suspensions, and where its blocks keep things.
struct PlannedKernel {
  ThreadCode code;
  BlockMemory memory;
};

/// Blocks for which code of their own pays; there is code for any blocks besides.
std::vector<Shape> shapes_of(const ThreadCode& code, bool for_any) {
  std::vector<Shape> shapes;
  shapes.reserve(5);
  if (code.instructions > kLargestCopied) return shapes;
  const bool rows = code.registers[kThreadIdx + 1] != nullptr;
  if (rows && code.grouping != Grouping::warps) shapes.push_back({16});
  if (rows && code.grouping == Grouping::none) shapes.push_back({32});
  if (code.grouping != Grouping::none) shapes.push_back({0, true});
  if (!rows && code.grouping == Grouping::none && code.instructions <= kSmall) shapes.push_back({256});
  if (for_any && code.grouping == Grouping::none) shapes.push_back({0});
  return shapes;
}

using MakeForShape = llvm::function_ref<llvm::Function*(const Shape&)>;

/// The function that runs the code for a call's shape of blocks: what `make` gives for the first shape that fits, or `others`.
llvm::Function* choose_shape(const std::vector<Shape>& shapes, llvm::Function* others,
                             const std::string& name, MakeForShape make) {
  if (shapes.empty()) return others;
  auto* run = llvm::Function::Create(others->getFunctionType(), llvm::GlobalValue::InternalLinkage,
                                     name + ".run", others->getParent());
  auto& context = run->getContext();
  llvm::IRBuilder<> at(llvm::BasicBlock::Create(context, "", run));
  auto* x = BlockCall(at, *run).block(0);
  auto pass_on = [&](llvm::Function* to) {
    at.CreateCall(to, {run->getArg(0)})->setTailCall();
    at.CreateRetVoid();
  };
  for (const auto& shape : shapes) {
    auto* made = make(shape);
    if (shape == Shape{}) {
      pass_on(made);
      return run;
    }
    auto* fits = shape.whole_warps ? at.CreateICmpEQ(at.CreateAnd(x, 31), at.getInt32(0))
                                   : at.CreateICmpEQ(x, at.getInt32(shape.x));
    auto* here = llvm::BasicBlock::Create(context, "", run);
    auto* next = llvm::BasicBlock::Create(context, "", run);
    at.CreateCondBr(fits, here, next);
    at.SetInsertPoint(here);
    pass_on(made);
    at.SetInsertPoint(next);
  }
  pass_on(others);
  return run;
}

/// Whether threads of `kernel` meet in warps.
bool meets_in_warps(llvm::Function& kernel) {
  return llvm::any_of(llvm::instructions(kernel), [](const llvm::Instruction& instruction) {
    return intrinsic_of(instruction) == Intrinsic::warp_barrier;
  });
}

class DeviceCompiler {
 public:
  explicit DeviceCompiler(const DeviceOptions& options)
      : options_(options), machine_(make_machine(options.cpu)) {}

  CompiledDevice compile() {
    auto models = model();
    if (options_.audit) tell_of_accesses(device_);
    simplify(device_, *machine_);
    print("simplified");
    spell_out_shared_addresses();
    for (const auto& kernel : device_.kernels) lines_[kernel.function] = at_line(*kernel.function);
    if (!options_.debug) llvm::StripDebugInfo(*device_.module);
    const auto common = common_shared(device_);
    const bool state_is_read = read_thread_state(device_, common);
    Image image{options_.id,
                options_.cpu == "native" ? host_features() : features_of(options_.cpu),
                {},
                device_.variables,
                ptx()};
    for (std::size_t i = 0; i < device_.kernels.size(); ++i) {
      image.kernels.push_back(make_kernel(device_.kernels[i], common, state_is_read));
      image.kernels.back().model = access::write_model(models[i]);
    }
    forget_threads();
    auto made = made_of(image, std::move(models));
    add_image(*device_.module, image);
    for (auto* variable : device_.variables) {
      if (!variable->isDeclaration()) variable->setLinkage(llvm::GlobalValue::InternalLinkage);
    }
    print("blocks");
    std::string problems;
    llvm::raw_string_ostream stream(problems);
    if (llvm::verifyModule(*device_.module, &stream)) {
      throw std::logic_error("nunacc has made code that LLVM refuses; this is a mistake of nunacc: " +
                             problems);
    }
    std::vector<llvm::GlobalValue*> shared(device_.variables.begin(), device_.variables.end());
    for (const auto& kernel : image.kernels) shared.push_back(kernel.run);
    emit(std::move(device_.module), shared,
         {options_.object, options_.id, options_.cpu, options_.linker, options_.print_ir});
    return made;
  }

  std::vector<access::KernelModel> model() {
    device_ = retarget(read(options_.bitcode, context_), *machine_);
    print("retargeted");
    inline_calls(device_, *machine_);
    return model_kernels(device_, *machine_);
  }

 private:
  std::string ptx() const {
    if (options_.ptx.empty()) return "";
    const auto file = llvm::MemoryBuffer::getFile(options_.ptx);
    if (!file) throw std::runtime_error(options_.ptx + ": " + file.getError().message());
    return (*file)->getBuffer().str();
  }

  CompiledDevice made_of(const Image& image, std::vector<access::KernelModel> models) const {
    CompiledDevice made;
    made.cpu = machine_->getTargetCPU().str();
    made.models = std::move(models);
    for (const auto& kernel : image.kernels) {
      const auto& sizes = kernel.parameter_bytes;
      made.kernels.push_back({kernel.name, std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0}),
                              kernel.static_shared_bytes, kernel.thread_bytes});
    }
    for (const auto* variable : device_.variables)
      made.variable_bytes += device_.module->getDataLayout().getTypeAllocSize(variable->getValueType());
    return made;
  }

  /// More is dynamic shared memory, for which a program has to ask.
  void check_shared_memory(const Kernel& kernel, const PlannedKernel& planned,
                           const CommonShared& common) const {
    constexpr std::uint64_t kMost = std::uint64_t{48} << 10;
    std::uint64_t bytes = planned.memory.shared_bytes;
    if (!planned.code.calls_with_state && !common.empty()) {  // it has others' variables, which it cannot use
      bytes = 0;
      for (const auto& [variable, at] : planned.memory.shared) {
        if (common.count(variable) == 0)
          bytes += device_.module->getDataLayout().getTypeAllocSize(variable->getValueType());
      }
    }
    if (bytes <= kMost) return;
    std::ostringstream text;
    text << lines_.at(kernel.function) << "entry function '" << llvm::demangle(kernel.name)
         << "' uses too much shared data (0x" << std::hex << bytes << " bytes, 0x" << kMost
         << " max): take dynamic shared memory (extern __shared__), and ask for it by cudaFuncSetAttribute";
    throw std::runtime_error(text.str());
  }

  /// Addresses of shared variables inside constant expressions become instructions, which block memory can replace.
  void spell_out_shared_addresses() {
    std::vector<llvm::Constant*> shared;
    shared.reserve(device_.shared.size());
    for (const auto& variable : device_.shared) shared.push_back(variable.variable);
    llvm::convertUsersOfConstantsToInstructions(shared);
  }

  ImageKernel make_kernel(const Kernel& kernel, const CommonShared& common, bool state_is_read) {
    const bool counts = assume_31_bit_indices(*kernel.function);
    widen_indices(*kernel.function);
    keep_warps_in_step(*kernel.function, device_.shared);
    const auto guards = find_guards(*kernel.function);
    const bool copied = kernel.function->getInstructionCount() <= kLargestCopied;
    // Code for most blocks, which others do for the rest: those of the interior, and those whose rows are whole warps.
    llvm::Function* test = nullptr;
    llvm::Function* copy = nullptr;
    if (copied && !guards.empty()) {
      test = make_interior_test(*kernel.function, guards, kernel.name + ".is_interior");
      copy = make_interior_kernel(*kernel.function, guards, *machine_);
      spell_out_shared_addresses();
    } else if (copied && meets_in_warps(*kernel.function)) {
      copy = copy_kernel(*kernel.function, ".warps");
    }
    std::optional<PlannedKernel> most;
    if (copy != nullptr) {
      single_threads_.push_back(copy);
      most.emplace(plan(*copy, meets_in_warps(*copy) ? Among::warp : Among::block, common, state_is_read));
    }
    const auto whole = plan(*kernel.function, Among::block, common, state_is_read);
    check_shared_memory(kernel, whole, common);
    auto* others =
        make_block_function(whole.code, whole.memory, {.small = most.has_value()}, kernel.name + ".blocks");
    const auto& best = most ? *most : whole;
    auto* run =
        choose_shape(shapes_of(best.code, test != nullptr), others, kernel.name, [&](const Shape& shape) {
          auto* made = make_block_function(best.code, best.memory, shape, kernel.name + ".most");
          return test != nullptr ? make_interior_choice(*test, *made, *others, kernel.name + ".choice")
                                 : made;
        });
    const unsigned flags = (counts ? unsigned{NUNA_KERNEL_31_BIT_INDICES} : 0u) |
                           (options_.audit ? unsigned{NUNA_KERNEL_AUDITED} : 0u);
    ImageKernel made{kernel.name,
                     run,
                     kernel.parameter_bytes,
                     flags,
                     static_cast<std::uint32_t>(whole.memory.shared_bytes),
                     kernel.max_threads,
                     whole.memory.fixed_bytes,
                     whole.memory.thread_bytes,
                     ""};
    made.fixed_bytes = std::max(made.fixed_bytes, best.memory.fixed_bytes);
    made.thread_bytes = std::max(made.thread_bytes, best.memory.thread_bytes);
    return made;
  }

  PlannedKernel plan(llvm::Function& function, Among among, const CommonShared& common, bool state_is_read) {
    overlap_exchanges(function, among);
    mark_shared_atomics(function, [&](const llvm::GlobalVariable& variable) {
      return llvm::any_of(device_.shared, [&](const auto& shared) { return shared.variable == &variable; });
    });
    interchange_uniform_loops(function, among);
    spell_out_path_flags(function);
    auto code = plan_threads(function, among);
    if (among == Among::warp && code.grouping != Grouping::warps)
      throw std::logic_error("nunacc planned " + function.getName().str() +
                             " for warps in which nobody meets");
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

  const DeviceOptions& options_;
  std::unique_ptr<llvm::TargetMachine> machine_;
  llvm::LLVMContext context_;
  DeviceModule device_;
  std::map<const llvm::Function*, std::string> lines_;  ///< of kernels, for messages
  std::vector<llvm::Function*> single_threads_;         ///< copies of kernels
};

}  // namespace

CompiledDevice compile_device(const DeviceOptions& options) { return DeviceCompiler(options).compile(); }

std::vector<access::KernelModel> model_device(const DeviceOptions& options) {
  return DeviceCompiler(options).model();
}

}  // namespace nuna::compiler
