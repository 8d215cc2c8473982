#pragma once
// The functions that device headers call and code generation replaces (compiler/README.md). Pure.

#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Module.h>

#include <optional>

namespace nuna::compiler {

/// k of __nuna_sreg(k).
enum SpecialRegister : unsigned {
  kThreadIdx = 0,  ///< x; y and z follow
  kBlockIdx = 3,
  kBlockDim = 6,
  kGridDim = 9,
  kLane = 12,
  kSpecialRegisters = 13,
};

/// What a call of an intrinsic is; nothing for other calls.
enum class Intrinsic {
  special_register,
  barrier,
  warp_barrier,
  lanes_meet,  ///< as warp_barrier, of all lanes, for interchange_uniform_loops
  warp_slots,
  block_cells,
  dynamic_shared,
  dynamic_shared_bytes,
  end_thread,  ///< of PTX only, until simplify has inlined it into kernels
};
std::optional<Intrinsic> intrinsic_of(const llvm::Function& function);
std::optional<Intrinsic> intrinsic_of(const llvm::Instruction& instruction);

/// The register that `instruction` reads, when it is a call of __nuna_sreg with a constant that there is.
std::optional<unsigned> special_register_of(const llvm::Instruction& instruction);

/// Whether threads wait for each other in it.
bool suspends(const llvm::Instruction& instruction);

}  // namespace nuna::compiler
