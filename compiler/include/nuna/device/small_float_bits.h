#pragma once
/* What half and bfloat16 share: a float that keeps what a double has below it, and rounding of a float to 16 bits. */

#include <math.h>
#include <string.h>

#include "vector_functions.h"

#ifdef NUNA_CUDA_MODE
#include "nuna/device/atomic.h"
#include "nuna/device/convert.h"
#include "nuna/device/integer.h"
#include "nuna/device/warp.h"
#endif

#define NUNA_SMALL static __inline__ __attribute__((always_inline, unused)) __host__ __device__

NUNA_SMALL unsigned __nuna_float_bits(float value) {
  unsigned bits;
  __builtin_memcpy(&bits, &value, 4);
  return bits;
}
NUNA_SMALL float __nuna_bits_float(unsigned bits) {
  float value;
  __builtin_memcpy(&value, &bits, 4);
  return value;
}

/* The float towards zero from `value`, its last bit set where it is not exact: rounding it once more rounds `value`. */
NUNA_SMALL float __nuna_round_to_odd(double value) {
  const float nearest = (float)value;
  if ((double)nearest == value || value != value || __builtin_isinf(nearest)) return nearest;
  unsigned bits = __nuna_float_bits(nearest);
  if (__builtin_fabs((double)nearest) > __builtin_fabs(value)) --bits;
  return __nuna_bits_float(bits | 1u);
}

enum __nuna_small_rounding { __nuna_small_rz, __nuna_small_ru, __nuna_small_rd };

/* From the nearest 16-bit value to the one that the rounding wants; `high` is the bits of the largest finite one. */
NUNA_SMALL unsigned short __nuna_small_nudge(unsigned short bits, float nearest, float value, int mode,
                                             unsigned short high) {
  if (value != value || nearest == value) return bits;
  const bool up = mode == __nuna_small_ru || (mode == __nuna_small_rz && value < 0);
  if (up ? nearest >= value : nearest <= value) return bits;
  const bool negative = bits >> 15 != 0;
  if ((bits & 0x7fffu) > high) return (unsigned short)((bits & 0x8000u) | high);
  if ((bits & 0x7fffu) == 0) return up ? 1u : 0x8001u;
  return (unsigned short)(negative == up ? bits - 1u : bits + 1u);
}
