#pragma once
/* The standard library on the device. Device code runs on the host's CPU, so the host's own C functions serve: what is declared
 * between `force_cuda_host_device begin` and `end` belongs to both sides, and clang turns sinf, sqrt, floor and the like into LLVM's
 * intrinsics. So does <cmath>; what else of libstdc++ is constexpr is on both sides anyway. Of <stdlib.h> and <stdio.h>, which
 * programs and compilers declare anew in part, the device has functions of its own that link to the same symbols. */

#include "crt/host_defines.h"

#pragma push_macro("_GLIBCXX_INCLUDE_NEXT_C_HEADERS")
#define _GLIBCXX_INCLUDE_NEXT_C_HEADERS 1 /* libstdc++'s math.h and stdlib.h step aside */
#include <stdio.h>
#include <stdlib.h>
#pragma clang force_cuda_host_device begin
#include <math.h>
#include <string.h>
#pragma clang force_cuda_host_device end
#pragma pop_macro("_GLIBCXX_INCLUDE_NEXT_C_HEADERS")

extern "C" {
__device__ int printf(const char* format, ...) __attribute__((format(printf, 1, 2)));
__device__ int dprintf(int file, const char* format, ...) __attribute__((format(printf, 2, 3)));
__device__ void* malloc(size_t bytes) noexcept __attribute__((malloc));
__device__ void* calloc(size_t number, size_t bytes) noexcept __attribute__((malloc));
__device__ void free(void* memory) noexcept;
__device__ int abs(int x) noexcept __attribute__((const));
__device__ long labs(long x) noexcept __attribute__((const));
__device__ long long llabs(long long x) noexcept __attribute__((const));
}

/* All that <cmath> includes, so that it alone is read for both sides. */
#include <bits/stl_algobase.h>
#include <limits>
#include <type_traits>
#pragma clang force_cuda_host_device begin
#include <cmath>
#pragma clang force_cuda_host_device end

#include <assert.h>
#include <float.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cstdlib>
/* Clang's own wrapper, with operator new and delete for the device. */
#include <new>
#include <utility>

#include <math.h>
#include <stdlib.h>

/* std::min and std::max on both sides in C++11, too. */
#include "nuna/device/algorithm.h"
