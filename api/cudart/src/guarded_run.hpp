#pragma once
// A kernel's code on the calling thread, which may end before its last block: __nuna_end_kernel, and faults.
//
// A fault (an address that nobody has, a stack that is used up, an integer divided by zero) ends the launch as an error of a GPU does: with
// a CUDA error, and one line on stderr, by the first thread, until the errors are forgotten (cudaDeviceReset). Both leave the
// code by a jump over its frames. What it takes for granted of that code: it has no destructors, and it holds no locks. Nunacc's own holds none. Of
// the C library's functions that it calls, printf, malloc and free do: a fault inside of such (a string that is none, a heap that was
// written over) is told, and ends the process as it would without us. memcpy and the like, which call no others, are left like
// the code itself.
//
// Faults come from Nuna's handler (nuna/fault_hook.hpp), behind the host views, whose bytes kernels touch like anybody. Faults of
// other threads, and of these outside of kernels, are none of ours.

#include "images.hpp"

namespace nuna::cudart {

/// Once, before the first kernel.
void watch_faults();

/// Runs the blocks of `call`; returns 0, or the kernel's error.
int run_guarded(const Function& function, const nuna_block_call& call);

/// Where the code that the calling thread runs says which block that is (nuna_block_call's block_index).
std::uint32_t* block_index_here();

}  // namespace nuna::cudart
