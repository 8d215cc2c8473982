#ifndef NUNA_DEVICE_STANDARD_H
#define NUNA_DEVICE_STANDARD_H
/* The standard library on the device. Device code runs on the host's CPU, so the host's own C functions serve: what is declared
 * between `force_cuda_host_device begin` and `end` belongs to both sides, and clang turns sinf, sqrt, floor and the like into LLVM's
 * intrinsics. So does <cmath>; what else of libstdc++ is constexpr is on both
 * sides anyway. */

#include "crt/host_defines.h"

#pragma push_macro("_GLIBCXX_INCLUDE_NEXT_C_HEADERS")
#define _GLIBCXX_INCLUDE_NEXT_C_HEADERS 1 /* libstdc++'s math.h and stdlib.h step aside */
#pragma clang force_cuda_host_device begin
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#pragma clang force_cuda_host_device end
#pragma pop_macro("_GLIBCXX_INCLUDE_NEXT_C_HEADERS")

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

#endif
