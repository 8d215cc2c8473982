#pragma once
// Integers of a kernel that grow by constants along the axes of a block: what a thread's indices are made into, mostly.

#include <llvm/IR/Instructions.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "codegen/intrinsics.hpp"
#include "codegen/uniformity.hpp"

namespace nuna::compiler {

/// By how much a value grows from a thread to its neighbour along x, y and z.
struct Steps {
  std::array<std::int64_t, 3> along{};

  bool none() const { return along == std::array<std::int64_t, 3>{}; }
};

class ThreadAffine {
 public:
  ThreadAffine() = default;
  /// Takes all values that `uniform` says are the same for all threads for known.
  explicit ThreadAffine(const Uniformity& uniform) : uniform_(&uniform) {}

  /// The steps of `value`, an integer; nothing where they are no constants, or where it cannot be computed when a block starts.
  /// Modulo 2^bits: whether it wraps between two threads is to be checked, of itself and of extended parts (for_extended). Of
  /// 32 bits and more it does not if what the steps' signs call the least is not more than the most.
  std::optional<Steps> steps_of(const llvm::Value& value);

  /// From here on, `value` counts as something with these steps.
  void assume(const llvm::Value& value, const Steps& steps) { known_[&value] = steps; }

  /// Whether a block's place in the grid is a part of it.
  bool knows_block(const llvm::Value& value);

  /// Calls visit(operand, steps, from_zero) for each operand of sign or zero extensions that `value` is made of; from_zero: of zero
  /// extensions.
  void for_extended(const llvm::Value& value,
                    const std::function<void(const llvm::Value&, const Steps&, bool)>& visit);

 private:
  std::optional<Steps> compute(const llvm::Instruction& instruction);

  using Visit = std::function<void(const llvm::Value&, const Steps&, bool)>;
  void visit_extended(const llvm::Value& value, const Visit& visit, std::set<const llvm::Value*>& seen);

  const Uniformity* uniform_ = nullptr;
  std::map<const llvm::Value*, bool> knows_block_;
  std::map<const llvm::Value*, std::optional<Steps>> known_;
};

}  // namespace nuna::compiler
