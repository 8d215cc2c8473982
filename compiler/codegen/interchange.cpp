#include "codegen/interchange.hpp"

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include <optional>
#include <set>

#include "codegen/intrinsics.hpp"
#include "codegen/uniformity.hpp"

namespace nuna::compiler {

namespace {

constexpr std::size_t kLargestUnrolled = 1024;  ///< instructions, of all rounds of a loop

/// Bytes (of addresses) or units (of integers) between the values of threads that are neighbours along x; nothing where that is
/// no constant.
class Strides {
 public:
  explicit Strides(const Uniformity& uniformity, const llvm::DataLayout& layout)
      : uniformity_(uniformity), layout_(layout) {}

  std::optional<std::int64_t> of(const llvm::Value& value, int depth = 0) const {
    if (uniformity_.is_uniform(value)) return 0;
    const auto* instruction = llvm::dyn_cast<llvm::Instruction>(&value);
    if (instruction == nullptr || depth > 12) return std::nullopt;
    if (const auto k = special_register_of(*instruction)) return *k == kThreadIdx ? 1 : *k == kLane ? 1 : 0;
    auto operand = [&](unsigned i) { return of(*instruction->getOperand(i), depth + 1); };
    auto constant = [&](unsigned i) { return llvm::dyn_cast<llvm::ConstantInt>(instruction->getOperand(i)); };
    switch (instruction->getOpcode()) {
      case llvm::Instruction::SExt:
      case llvm::Instruction::ZExt:
      case llvm::Instruction::Trunc:
        return operand(0);
      case llvm::Instruction::Add:
      case llvm::Instruction::Or:
        return sum(operand(0), operand(1), 1);
      case llvm::Instruction::Sub:
        return sum(operand(0), operand(1), -1);
      case llvm::Instruction::Mul:
        if (constant(1) != nullptr) return sum(0, operand(0), constant(1)->getSExtValue());
        return same_along_x(*instruction, depth);
      case llvm::Instruction::Shl:
        if (constant(1) != nullptr) return sum(0, operand(0), std::int64_t{1} << constant(1)->getZExtValue());
        return same_along_x(*instruction, depth);
      case llvm::Instruction::GetElementPtr:
        return of_address(llvm::cast<llvm::GEPOperator>(*instruction), depth);
      default:
        return same_along_x(*instruction, depth);
    }
  }

 private:
  /// 0 of what is made only of values that do not change along x.
  std::optional<std::int64_t> same_along_x(const llvm::Instruction& instruction, int depth) const {
    if (llvm::isa<llvm::PHINode, llvm::AllocaInst, llvm::CallBase>(instruction) ||
        instruction.mayReadOrWriteMemory())
      return std::nullopt;
    for (const auto& operand : instruction.operands()) {
      if (of(*operand, depth + 1) != 0) return std::nullopt;
    }
    return 0;
  }

  static std::optional<std::int64_t> sum(std::optional<std::int64_t> a, std::optional<std::int64_t> b,
                                         std::int64_t factor) {
    return a && b ? std::optional(*a + *b * factor) : std::nullopt;
  }

  std::optional<std::int64_t> of_address(const llvm::GEPOperator& address, int depth) const {
    auto total = of(*address.getPointerOperand(), depth + 1);
    for (auto part = llvm::gep_type_begin(address); part != llvm::gep_type_end(address); ++part) {
      if (part.isStruct()) continue;
      const auto bytes = static_cast<std::int64_t>(part.getSequentialElementStride(layout_).getFixedValue());
      total = sum(total, of(*part.getOperand(), depth + 1), bytes);
    }
    return total;
  }

  const Uniformity& uniformity_;
  const llvm::DataLayout& layout_;
};

class Interchange {
 public:
  Interchange(llvm::Function& kernel, Among among)
      : kernel_(kernel),
        dominators_(kernel),
        post_dominators_(kernel),
        loops_(dominators_),
        uniformity_(kernel, among),
        library_(llvm::Triple(kernel.getParent()->getTargetTriple())),
        functions_(library_),
        assumptions_(kernel),
        evolution_(kernel, functions_, assumptions_, dominators_, loops_) {}

  void run() {
    if (has_rows() && uses_warps()) return;
    find_parted();
    std::vector<llvm::Loop*> chosen;
    for (auto* loop : loops_.getLoopsInPreorder()) {
      if (!loop->isInnermost() || unrolls(*loop)) continue;
      if (is_fit(*loop) && pays(*loop)) chosen.push_back(loop);
    }
    for (auto* loop : chosen) mark(*loop);
  }

 private:
  /// Whether threads may tell that lanes are of a warp.
  bool uses_warps() {
    for (auto& instruction : llvm::instructions(kernel_)) {
      const auto intrinsic = intrinsic_of(instruction);
      if (intrinsic == Intrinsic::warp_barrier || intrinsic == Intrinsic::warp_slots ||
          special_register_of(instruction) == kLane)
        return true;
    }
    return false;
  }

  /// Whether threads lie along several axes: then a warp may hold parts of rows, whose indices cost divisions.
  bool has_rows() {
    for (auto& instruction : llvm::instructions(kernel_)) {
      const auto k = special_register_of(instruction);
      if (k && (*k == kThreadIdx + 1 || *k == kThreadIdx + 2)) return true;
    }
    return false;
  }

  /// Blocks to which threads do not come together: between a branch on which they differ and where they meet again.
  void find_parted() {
    for (auto& block : kernel_) {
      if (block.getTerminator()->getNumSuccessors() < 2 || agrees(block)) continue;
      const auto* node = post_dominators_.getNode(&block);
      const auto* next = node != nullptr ? node->getIDom() : nullptr;
      const auto* meeting = next != nullptr ? next->getBlock() : nullptr;
      std::vector<llvm::BasicBlock*> work(llvm::succ_begin(&block), llvm::succ_end(&block));
      while (!work.empty()) {
        auto* at = work.back();
        work.pop_back();
        if (at == meeting || !parted_.insert(at).second) continue;
        work.insert(work.end(), llvm::succ_begin(at), llvm::succ_end(at));
      }
    }
  }

  bool agrees(llvm::BasicBlock& block) {
    const auto* branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
    if (branch != nullptr)
      return branch->isUnconditional() || uniformity_.is_uniform(*branch->getCondition());
    const auto* choice = llvm::dyn_cast<llvm::SwitchInst>(block.getTerminator());
    return choice != nullptr && uniformity_.is_uniform(*choice->getCondition());
  }

  /// Short loops are unrolled instead: then the thread loop around them is an innermost one.
  bool unrolls(llvm::Loop& loop) {
    const auto trips = evolution_.getSmallConstantTripCount(&loop);
    std::size_t instructions = 0;
    for (auto* block : loop.blocks()) instructions += block->size();
    if (trips == 0 || trips * instructions > kLargestUnrolled) return false;
    llvm::addStringMetadataToLoop(&loop, "llvm.loop.unroll.full");
    return true;
  }

  bool is_fit(llvm::Loop& loop) {
    if (!loop.isLoopSimplifyForm() || parted_.count(loop.getHeader()) != 0) return false;
    llvm::SmallVector<llvm::BasicBlock*, 4> exits;
    loop.getExitingBlocks(exits);
    for (auto* exit : exits) {
      if (!agrees(*exit)) return false;
    }
    for (auto* block : loop.blocks()) {
      for (auto& instruction : *block) {
        if (suspends(instruction)) return false;
        const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
        if (call != nullptr && !call->doesNotAccessMemory()) return false;
      }
    }
    return true;
  }

  bool pays(llvm::Loop& loop) {
    const Strides strides(uniformity_, kernel_.getParent()->getDataLayout());
    int near = 0;
    int far = 0;
    for (auto* block : loop.blocks()) {
      for (auto& instruction : *block) {
        const llvm::Value* address = llvm::getLoadStorePointerOperand(&instruction);
        if (address == nullptr) continue;
        if (llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(address, 12))) return false;
        const auto stride = strides.of(*address);
        const auto bytes =
            kernel_.getParent()->getDataLayout().getTypeStoreSize(llvm::getLoadStoreType(&instruction));
        ++(stride && (*stride == 0 || *stride == static_cast<std::int64_t>(bytes.getFixedValue())) ? near
                                                                                                   : far);
      }
    }
    return near >= far;
  }

  void mark(llvm::Loop& loop) {
    auto& context = kernel_.getContext();
    auto meet = kernel_.getParent()->getOrInsertFunction("__nuna_lanes_meet", llvm::Type::getVoidTy(context));
    llvm::cast<llvm::Function>(meet.getCallee())->addFnAttr(llvm::Attribute::Convergent);
    llvm::SmallVector<llvm::BasicBlock*, 4> exits;
    loop.getUniqueExitBlocks(exits);
    exits.push_back(loop.getHeader());
    for (auto* block : exits) llvm::CallInst::Create(meet, "", block->getFirstInsertionPt());
  }

  llvm::Function& kernel_;
  llvm::DominatorTree dominators_;
  llvm::PostDominatorTree post_dominators_;
  llvm::LoopInfo loops_;
  Uniformity uniformity_;
  llvm::TargetLibraryInfoImpl library_;
  llvm::TargetLibraryInfo functions_;
  llvm::AssumptionCache assumptions_;
  llvm::ScalarEvolution evolution_;
  std::set<llvm::BasicBlock*> parted_;
};

/// Every loop gets a block before it and blocks behind it that belong to no other way.
void give_loops_edges(llvm::Function& kernel) {
  llvm::DominatorTree dominators(kernel);
  llvm::LoopInfo loops(dominators);
  for (auto* loop : loops) llvm::simplifyLoop(loop, &dominators, &loops, nullptr, nullptr, nullptr, false);
}

}  // namespace

void interchange_uniform_loops(llvm::Function& kernel, Among among) {
  give_loops_edges(kernel);
  Interchange(kernel, among).run();
}

}  // namespace nuna::compiler
