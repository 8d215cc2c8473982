#pragma once
// What single instructions do to memory, and which of them a model cannot know.

#include <llvm/IR/Instructions.h>

#include <optional>
#include <string>
#include <vector>

#include "access/kernel_code.hpp"

namespace nuna::compiler {

struct Effect {
  access::Access::Kind kind = access::Access::Kind::read;
  const llvm::Value* pointer = nullptr;
  std::optional<std::uint32_t> bytes;  ///< from the pointer on; nothing: only the launch knows
};

/// The loads and stores that `instruction` is: none, one, or a copy's two. Those of calls are not known (refusal_of).
std::vector<Effect> effects_of(const llvm::Instruction& instruction, const llvm::DataLayout& layout);

/// Why a kernel with this instruction can never be split, without its line; an empty reason if it is none.
access::Refusal refusal_of(const llvm::Instruction& instruction, const KernelCode& code);

/// Whether it writes to standard output.
bool prints(const llvm::Instruction& instruction);

/// The objects that `pointer` may point into.
std::vector<const llvm::Value*> objects_of(const llvm::Value& pointer);

}  // namespace nuna::compiler
