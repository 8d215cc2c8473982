#pragma once

/* Programs ask for CUDA's own include guards to learn what is there. */
#ifndef __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_H__
#endif
/* What nvcc includes into every CUDA file: here all of CUDA's language on top of clang's CUDA mode, for code that runs on CPUs.
 * A file that is not compiled as CUDA gets the runtime API and the vector types. */

#if defined(__CUDA__) && defined(__clang__)
/* Programs ask these whether CUDA is compiled at all and by which toolkit. __NVCC__ stays undefined: the compiler is clang,
 * and programs that ask for it mean nvcc's own pragmas and bugs. */
#ifndef __CUDACC__
#define __CUDACC__ 1
#endif
#ifndef __CUDACC_VER_MAJOR__
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 8
#define __CUDACC_VER_BUILD__ 0
#endif
#ifndef __CUDACC_EXTENDED_LAMBDA__
#define __CUDACC_EXTENDED_LAMBDA__ 1
#endif
/* What nvcc answers of the closure types of lambdas with __device__. Clang makes them ordinary ones, whose results can be asked for. */
#define __nv_is_extended_device_lambda_closure_type(...) false
#define __nv_is_extended_host_device_lambda_closure_type(...) false
#define __nv_is_extended_device_lambda_with_preserved_return_type(...) false
#ifndef __CUDACC_RELAXED_CONSTEXPR__
#define __CUDACC_RELAXED_CONSTEXPR__ 1
#endif
/* Clang takes the number out of -target-cpu, which is a CPU of x86 here, and gets 1. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 100
#undef __CUDA_ARCH__
#define __CUDA_ARCH__ 800
#endif
#endif

#include "crt/host_defines.h"

#ifdef NUNA_CUDA_MODE
#include "nuna/device/standard.h"
#endif

#include "vector_functions.h"
#include "vector_types.h"

#include "channel_descriptor.h"
#include "cuda_runtime_api.h"

#ifdef __cplusplus
#include "nuna_cudart/runtime_templates.h"
#endif

#include "device_launch_parameters.h"

#ifdef NUNA_CUDA_MODE
/* What clang's device pass sees in <<<>>>; the host pass calls __cudaPushCallConfiguration. */
cudaError_t cudaConfigureCall(dim3 grid, dim3 block, size_t shared_bytes = 0, struct CUstream_st* stream = 0);

#include "nuna/device/atomic.h"
#include "nuna/device/atomic_builtins.h"
#include "nuna/device/convert.h"
#include "nuna/device/integer.h"
#include "nuna/device/io.h"
#include "nuna/device/lanes.h"
#include "nuna/device/load_store.h"
#include "nuna/device/math.h"
#include "nuna/device/ptx.h"
#include "nuna/device/rounded.h"
#include "nuna/device/special.h"
#include "nuna/device/surface.h"
#include "nuna/device/sync.h"
#include "nuna/device/texture.h"
#include "nuna/device/texture_reference.h"
#include "nuna/device/warp.h"
#endif
