#pragma once
// Shuffles, votes and the like that follow each other.

#include <llvm/IR/Function.h>

#include "codegen/uniformity.hpp"

namespace nuna::compiler {

/// An exchange of a warp (include/nuna/device/warp.h) meets twice: when all lanes have written their slots, and when all have read
/// others', so that the next may write. Where the same lanes exchange several times in a row, every other time gets slots of its own, and
/// all but the last of the second meetings go: who is at the next but one has met, between, all that read. Each meeting cuts the
/// kernel, so that n exchanges are n + 1 cuts instead of 2 n. Kernels in which lanes of a warp may meet at different calls stay as they
/// are: there, each exchange must meet as often as those that it may meet. `kernel` is simplified; among warps: only blocks whose rows are whole
/// warps run it.
void overlap_exchanges(llvm::Function& kernel, Among among);

}  // namespace nuna::compiler
