#include <algorithm>
#include <array>

#include "codegen/ptx_instructions.hpp"

namespace nuna::compiler {

namespace {

using llvm::AtomicOrdering;
using ptx::Instruction;
using ptx::Operand;

/// Words of loads, stores and atomics that change nothing here: which memory, which cache, who sees it.
constexpr std::array<std::string_view, 23> kHints = {
    "global",  "shared",  "local",   "const", "shared::cta", "weak", "volatile", "relaxed",
    "acquire", "release", "acq_rel", "cta",   "cluster",     "gpu",  "sys",      "ca",
    "cg",      "cs",      "lu",      "cv",    "wb",          "wt",   "nc"};

bool is_hint(std::string_view word) {
  if (word.starts_with("L1::")) return true;
  if (word.starts_with("L2::") && word != "L2::cache_hint") return true;  // which has an operand
  return std::find(kHints.begin(), kHints.end(), word) != kHints.end();
}

class Memory {
 public:
  Memory(PtxBuilder& to, const Instruction& in) : to_(to), at_(to.at), in_(in) {
    shared_ = in.has("shared") || in.has("shared::cta");
  }

  void load() {
    check(2, {"v2", "v4"});
    const auto type = in_.type();
    auto* element = to_.type_of(type);
    const unsigned count = elements();
    const unsigned bits = count * type.width;
    auto* place = to_.address(in_.operands[1], shared_);
    llvm::Value* whole = nullptr;
    if (at_once() && (bits <= 64 || (bits == 128 && ordered()))) whole = load_whole(place, bits);
    const auto& target = in_.operands[0];
    if (count > 1 && target.members.size() != count) in_.refuse();
    std::vector<llvm::Value*> parts;
    for (unsigned i = 0; i < count; ++i) {
      if (whole != nullptr) {
        auto* part = at_.CreateTrunc(at_.CreateLShr(whole, i * type.width), at_.getIntNTy(type.width));
        parts.push_back(at_.CreateBitCast(part, element));
        continue;
      }
      auto* part =
          at_.CreateAlignedLoad(element, at_.CreateConstGEP1_32(element, place, i), align(type.width));
      if (at_once()) part->setAtomic(AtomicOrdering::Monotonic);
      parts.push_back(part);
    }
    for (unsigned i = 0; i < count; ++i)
      to_.write(count > 1 ? target.members[i] : target, parts[i], type.is_signed());
  }

  void store() {
    check(2, {"v2", "v4"});
    const auto type = in_.type();
    auto* element = to_.type_of(type);
    const unsigned count = elements();
    const unsigned bits = count * type.width;
    auto* place = to_.address(in_.operands[0], shared_);
    const auto& source = in_.operands[1];
    if (count > 1 && source.members.size() != count) in_.refuse();
    if (at_once() && (bits <= 64 || (bits == 128 && ordered()))) {
      auto* made = at_.CreateAlignedStore(to_.read(source, at_.getIntNTy(bits)), place, align(bits));
      made->setAtomic(in_.has("release") ? AtomicOrdering::Release : AtomicOrdering::Monotonic);
      return;
    }
    for (unsigned i = 0; i < count; ++i) {
      auto* value = to_.read(count > 1 ? source.members[i] : source, element);
      auto* made =
          at_.CreateAlignedStore(value, at_.CreateConstGEP1_32(element, place, i), align(type.width));
      if (at_once()) made->setAtomic(AtomicOrdering::Monotonic);
    }
  }

  /// atom, which gives the old value, and red, which does not.
  void atomic() {
    const bool result = in_.name == "atom";
    const std::size_t first = result ? 1 : 0;
    const bool cas = in_.has("cas");
    check(first + (cas ? 3 : 2), {"add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"});
    const auto type = in_.type();
    if (in_.types.size() != 1 || type.pair || type.width < 16 || type.width > 64) in_.refuse();
    auto* element = to_.type_of(type);
    auto* place = to_.address(in_.operands[first], shared_);
    auto* value = to_.read(in_.operands[first + 1], element);
    llvm::Value* old = nullptr;
    if (cas) {
      auto* wanted = to_.read(in_.operands[first + 2], element);
      auto* both = at_.CreateAtomicCmpXchg(place, value, wanted, align(type.width), order(),
                                           llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(order()));
      old = at_.CreateExtractValue(both, 0);
    } else {
      old = at_.CreateAtomicRMW(operation(), place, value, align(type.width), order());
    }
    if (result) to_.write(in_.operands[0], old);
  }

  /// Copies that a GPU makes behind the thread's back are made at once.
  void copy() {
    if (in_.has("commit_group") || in_.has("wait_all"))
      return in_.expect(0, {"async", "commit_group", "wait_all"});
    if (in_.has("wait_group")) return in_.expect(1, {"async", "wait_group"});
    const bool partly = in_.operands.size() == 4;
    check(partly ? 4 : 3, {"async"});
    if (!in_.has("async") || !shared_ || !in_.has("global") || in_.operands[2].form == Operand::Form::address)
      in_.refuse();
    auto* target = to_.address(in_.operands[0], true);
    auto* source = to_.address(in_.operands[1], false);
    const auto* bytes = llvm::dyn_cast<llvm::ConstantInt>(to_.read_word(in_.operands[2]));
    if (bytes == nullptr || !llvm::isPowerOf2_64(bytes->getZExtValue())) in_.refuse();
    const llvm::Align whole(bytes->getZExtValue());
    if (!partly) {
      at_.CreateMemCpy(target, whole, source, whole, bytes->getZExtValue());
      return;
    }
    auto* some = at_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, to_.read_word(in_.operands[3]),
                                           at_.getInt32(static_cast<std::uint32_t>(bytes->getZExtValue())));
    at_.CreateMemSet(target, at_.getInt8(0), bytes->getZExtValue(), whole);
    at_.CreateMemCpy(target, llvm::Align(1), source, llvm::Align(1), at_.CreateZExt(some, at_.getInt64Ty()));
  }

 private:
  void check(std::size_t operands, std::initializer_list<std::string_view> more) const {
    if (in_.operands.size() != operands) in_.expect(operands, {});
    for (const auto& word : in_.words) {
      if (!is_hint(word) && std::find(more.begin(), more.end(), word) == more.end()) in_.refuse();
    }
  }

  unsigned elements() const { return in_.has("v2") ? 2 : in_.has("v4") ? 4 : 1; }
  static llvm::Align align(unsigned bits) { return llvm::Align(bits / 8); }

  /// Who reads what others write meanwhile counts on it: up to 16 bytes move at once, as on GPUs.
  bool ordered() const {
    return in_.has("volatile") || in_.has("relaxed") || in_.has("acquire") || in_.has("release");
  }
  /// Past the caches that are not coherent; programs wait with such loads, too.
  bool at_once() const {
    return !in_.type().pair && (ordered() || in_.has("cg") || in_.has("cv") || in_.has("wt"));
  }

  llvm::Value* load_whole(llvm::Value* place, unsigned bits) {
    auto* made = at_.CreateAlignedLoad(at_.getIntNTy(bits), place, align(bits));
    made->setAtomic(in_.has("acquire") ? AtomicOrdering::Acquire : AtomicOrdering::Monotonic);
    return made;
  }

  AtomicOrdering order() const {
    if (in_.has("acq_rel")) return AtomicOrdering::AcquireRelease;
    if (in_.has("acquire")) return AtomicOrdering::Acquire;
    return in_.has("release") ? AtomicOrdering::Release : AtomicOrdering::Monotonic;
  }

  llvm::AtomicRMWInst::BinOp operation() const {
    using Rmw = llvm::AtomicRMWInst;
    const auto type = in_.type();
    if (in_.has("exch")) return Rmw::Xchg;
    if (in_.has("add")) return type.is_real() ? Rmw::FAdd : Rmw::Add;
    if (type.is_real()) in_.refuse();
    if (in_.has("min")) return type.is_signed() ? Rmw::Min : Rmw::UMin;
    if (in_.has("max")) return type.is_signed() ? Rmw::Max : Rmw::UMax;
    if (in_.has("and")) return Rmw::And;
    if (in_.has("or")) return Rmw::Or;
    if (in_.has("xor")) return Rmw::Xor;
    if (in_.has("inc")) return Rmw::UIncWrap;
    if (!in_.has("dec")) in_.refuse();
    return Rmw::UDecWrap;
  }

  PtxBuilder& to_;
  llvm::IRBuilder<>& at_;
  const Instruction& in_;
  bool shared_ = false;
};

/// A block's threads run on one CPU thread.
void fence(PtxBuilder& to, const Instruction& in) {
  in.expect(0, {"gl", "cta", "sys", "gpu", "cluster", "sc", "acq_rel", "proxy", "alias", "async", "global",
                "shared::cta", "acquire", "release"});
  const bool within = in.has("cta") && !in.has("sc");
  to.at.CreateFence(within ? AtomicOrdering::AcquireRelease : AtomicOrdering::SequentiallyConsistent);
}

}  // namespace

bool build_ptx_memory(PtxBuilder& to, const Instruction& in) {
  Memory memory(to, in);
  if (in.name == "ld" || in.name == "ldu") {
    memory.load();
  } else if (in.name == "st") {
    memory.store();
  } else if (in.name == "atom" || in.name == "red") {
    memory.atomic();
  } else if (in.name == "cp") {
    memory.copy();
  } else if (in.name == "membar" || in.name == "fence") {
    fence(to, in);
  } else {
    return in.name == "prefetch" || in.name == "prefetchu" || in.name == "discard";  // advice
  }
  return true;
}

}  // namespace nuna::compiler
