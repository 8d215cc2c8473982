#pragma once
// Integers of a kernel that grow by constants along the axes of a block: what a thread's indices are made into, mostly.

#include <llvm/IR/Instructions.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>

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
  /// Modulo 2^bits: whether it wraps between two threads is to be checked, of itself and of extended parts (parts_of).
  std::optional<Steps> steps_of(const llvm::Value& value);

  /// From here on, `value` counts as something with these steps.
  void assume(const llvm::Value& value, const Steps& steps) { known_[&value] = steps; }

  /// Whether a block's place in the grid is a part of it.
  bool knows_block(const llvm::Value& value);

  /// Calls visit(operand, steps, is_unsigned) for each operand of sign or zero extensions that `value` is made of.
  void for_extended(const llvm::Value& value,
                    const std::function<void(const llvm::Value&, const Steps&, bool)>& visit);

 private:
  std::optional<Steps> compute(const llvm::Instruction& instruction);

  const Uniformity* uniform_ = nullptr;
  std::map<const llvm::Value*, std::optional<Steps>> known_;
};

}  // namespace nuna::compiler
