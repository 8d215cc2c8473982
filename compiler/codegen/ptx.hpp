#pragma once
// Inline PTX of device code, made into IR: what programs and CUB write by hand most often (docs/nunacc.md tells which).

#include <llvm/IR/Module.h>

namespace nuna::compiler {

/// Replaces every asm statement of `module`, of which the functions are for one thread. Throws std::runtime_error, a message for
/// the user, on PTX that is not known.
void translate_ptx(llvm::Module& module);

/// Makes the thread end where `kernel` calls __nuna_exit; whether it did.
bool end_threads_at_exit(llvm::Function& kernel);

}  // namespace nuna::compiler
