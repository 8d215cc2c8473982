#pragma once
/* What codegen replaces: the table in compiler/README.md. Never defined. And the words with which the headers beside this
 * one declare their functions. */

#include "crt/host_defines.h"

#ifndef NUNA_DEVICE /* the tests of headers make host code of it */
#define NUNA_DEVICE static __device__ __inline__ __attribute__((always_inline, unused))
#endif
#define NUNA_BOTH static __host__ __device__ __inline__ __attribute__((always_inline, unused))

/* The kind of a meeting at which lanes exchange nothing. */
#define NUNA_MEET_ONLY 0u

extern "C" {
__device__ __attribute__((const)) unsigned __nuna_sreg(int k);
__device__ __attribute__((convergent)) void __nuna_barrier();
__device__ __attribute__((convergent)) unsigned __nuna_warp_barrier(unsigned mask, unsigned kind);
__device__ __attribute__((const)) unsigned long long* __nuna_warp_slots();
__device__ __attribute__((const)) unsigned* __nuna_block_cells();
__device__ __attribute__((const)) void* __nuna_dynamic_shared();
__device__ __attribute__((const)) unsigned long long __nuna_dynamic_shared_bytes();
__device__ __attribute__((noreturn, cold)) void __nuna_end_kernel(int error);
__device__ __attribute__((cold)) int __nuna_error_output(void);
/* Of libnuna_cudart: whether the grid's blocks run at the same time, and their barrier, by one thread of each block. */
__device__ int __nuna_grid_is_together();
__device__ __attribute__((convergent)) void __nuna_grid_barrier();
}
