#pragma once

/* Programs ask for CUDA's own include guards to learn what is there. */
#ifndef __CUDA_RUNTIME_API_H__
#define __CUDA_RUNTIME_API_H__
#endif
/* The CUDA runtime API as libnuna_cudart has it: functions for C and C++, for any compiler. README.md of this folder says what
 * works. In C++ some calls have forms of several versions of CUDA (nuna_cudart/overloads.h). */

#include <stddef.h>

#define CUDART_VERSION 12080
#ifndef __CUDART_API_VERSION
#define __CUDART_API_VERSION CUDART_VERSION
#endif
#ifndef CUDARTAPI
#define CUDARTAPI
#endif

/* Default arguments, which C has none of. */
#ifdef __cplusplus
#define NUNA_DEFAULT(value) = value
#else
#define NUNA_DEFAULT(value)
#endif

#include "driver_types.h"
#include "nuna_cudart/make_types.h"
#include "surface_types.h"
#include "texture_types.h"

#ifdef __cplusplus
extern "C" {
#endif

#include "nuna_cudart/api_device.h"
#include "nuna_cudart/api_graph.h"
#include "nuna_cudart/api_launch.h"
#include "nuna_cudart/api_memory.h"
#include "nuna_cudart/api_memory_copy.h"
#include "nuna_cudart/api_refused.h"
#include "nuna_cudart/api_stream.h"
#include "nuna_cudart/api_texture.h"

#ifdef __cplusplus
}
#ifndef NUNA_CUDART_C_ONLY
#include "nuna_cudart/overloads.h"
#endif
#endif
