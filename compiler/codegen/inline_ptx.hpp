#pragma once
// Inline PTX of device code, made into IR (docs/nunacc.md tells which). ptx_text cuts it into instructions, ptx_builder keeps registers
// and operands, ptx_instructions has the instructions by what they do, and nuna/device/ptx.h the functions that they call.

#include "codegen/device_module.hpp"

namespace nuna::compiler {

/// Replaces every asm statement of `module`, of which the functions are for one thread. Throws std::runtime_error, a message for
/// the user, on PTX that is not known.
void translate_ptx(llvm::Module& module);

/// Whether `instruction` is of PTX that outlives its statement: the thread's carry, or its end.
bool needs_its_thread(const llvm::Instruction& instruction);

/// Behind inlining: a thread ends where its kernel says so, and has a carry in each function. Throws as above.
void settle_ptx(DeviceModule& device);

}  // namespace nuna::compiler
