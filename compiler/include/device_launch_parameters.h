#pragma once
/* threadIdx, blockIdx, blockDim, gridDim, warpSize. In CUDA code their members are properties: a call of __nuna_sreg each, so
 * that no memory lies behind them. */

#include "vector_types.h"

#ifdef NUNA_CUDA_MODE
#include "nuna/device/intrinsics.h"

#define NUNA_SREG_MEMBER __device__ __inline__ __attribute__((always_inline))
#define NUNA_SREGS(name, first)                                                         \
  struct __nuna_##name##_t {                                                            \
    typedef void __nuna_sregs; /* by which dim3 knows it */                             \
    __declspec(property(get = __get_x)) unsigned int x;                                 \
    __declspec(property(get = __get_y)) unsigned int y;                                 \
    __declspec(property(get = __get_z)) unsigned int z;                                 \
    static NUNA_SREG_MEMBER unsigned int __get_x() { return __nuna_sreg(first); }       \
    static NUNA_SREG_MEMBER unsigned int __get_y() { return __nuna_sreg((first) + 1); } \
    static NUNA_SREG_MEMBER unsigned int __get_z() { return __nuna_sreg((first) + 2); } \
    NUNA_SREG_MEMBER operator uint3() const {                                           \
      uint3 t = {__get_x(), __get_y(), __get_z()};                                      \
      return t;                                                                         \
    }                                                                                   \
  };                                                                                    \
  extern const __device__ __attribute__((weak)) __nuna_##name##_t name;

NUNA_SREGS(threadIdx, 0)
NUNA_SREGS(blockIdx, 3)
NUNA_SREGS(blockDim, 6)
NUNA_SREGS(gridDim, 9)

#undef NUNA_SREGS
#undef NUNA_SREG_MEMBER

__attribute__((unused)) static const __device__ int warpSize = 32;

#elif defined(__cplusplus)
extern "C" {
extern const uint3 threadIdx;
extern const uint3 blockIdx;
extern const dim3 blockDim;
extern const dim3 gridDim;
extern const int warpSize;
}
#endif
