#pragma once
/* Barriers of the block and fences. */

#include "nuna/device/intrinsics.h"

#define NUNA_SYNC NUNA_DEVICE __attribute__((convergent))

/* For the triple nvptx64 (the device pass, and the host pass beside it) clang has a builtin of this name, which no function may
 * replace. */
#ifdef __NVPTX__
#ifdef __CUDA_ARCH__
#define __syncthreads() __nuna_barrier()
#endif
#else
NUNA_SYNC void __syncthreads() { __nuna_barrier(); }
#endif
NUNA_SYNC void __barrier_sync(unsigned) { __nuna_barrier(); }

/* How many threads of the block say yes. A thread takes back what it added behind the second barrier: whoever is at the next count
 * by then may add already, and reads only behind a barrier that this thread meets, too. */
NUNA_SYNC int __syncthreads_count(int yes) {
  unsigned* cell = __nuna_block_cells();
  const unsigned one = yes != 0;
  if (one) __atomic_fetch_add(cell, 1u, __ATOMIC_RELAXED);
  __nuna_barrier();
  const int count = (int)__atomic_load_n(cell, __ATOMIC_RELAXED);
  __nuna_barrier();
  if (one) __atomic_fetch_sub(cell, 1u, __ATOMIC_RELAXED);
  return count;
}
NUNA_SYNC int __syncthreads_or(int yes) { return __syncthreads_count(yes) != 0; }
NUNA_SYNC int __syncthreads_and(int yes) { return __syncthreads_count(!yes) == 0; }

/* A block runs on one CPU thread, so that what its threads see of each other needs no instruction. */
NUNA_DEVICE void __threadfence_block() { __atomic_thread_fence(__ATOMIC_ACQ_REL); }
NUNA_DEVICE void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
NUNA_DEVICE void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

#undef NUNA_SYNC
