#pragma once

/* Thrust takes the keywords away where CUDA's own guard is absent. */
#ifndef __HOST_DEFINES_H__
#define __HOST_DEFINES_H__
#endif
/* CUDA's keywords. Clang in CUDA mode knows the attributes; for any other compiler they are nothing, so that a plain C or C++ file
 * may include what a CUDA file includes. */

#if defined(__CUDA__) && defined(__clang__)
#define NUNA_CUDA_MODE 1
#endif

#ifdef NUNA_CUDA_MODE
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global, annotate("nuna.kernel")))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
/* A managed variable is the host's: its memory is an ordinary global of the host object, to which device code refers. */
#if defined(__CUDA_ARCH__) && defined(__CUDACC_RDC__)
#define __managed__ __attribute__((device, annotate("nuna.managed.linked")))
#elif defined(__CUDA_ARCH__)
#define __managed__ __attribute__((device, annotate("nuna.managed")))
#else
#define __managed__ __attribute__((used))
#endif
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#else
#define __host__
#define __device__
#define __global__
#define __shared__
#define __constant__
#define __managed__
#define __launch_bounds__(...)
#endif

#define __grid_constant__
#define __maxnreg__(...)
#define __block_size__(...)
#define __cluster_dims__(...)
#define __device_builtin__
#define __device_builtin_texture_type__
#define __device_builtin_surface_type__
#define __cudart_builtin__
#define __tile_builtin__
#define __nv_pure__

#define __forceinline__ __inline__ __attribute__((always_inline))
/* libstdc++ writes __attribute__((__noinline__)), which the macro must leave whole: clang in CUDA mode has the keyword itself. */
#if !defined(NUNA_CUDA_MODE) && !defined(__noinline__)
#define __noinline__ __attribute__((noinline))
#endif
#define __inline_hint__ __inline__
#define __no_return__ __attribute__((noreturn))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __align__(n)
#define __thread__ __thread
#define __import__
#define __export__
#define __location__(annotation) __attribute__((annotation))
#define __CUDA_ARCH_HAS_FEATURE__(feature) 0

#ifndef CUDARTAPI
#define CUDARTAPI
#endif
#ifndef CUDARTAPI_CDECL
#define CUDARTAPI_CDECL
#endif
#ifndef CUDART_CB
#define CUDART_CB
#endif
#define __specialization_static static
