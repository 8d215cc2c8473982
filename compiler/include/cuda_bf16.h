#pragma once
/* __nv_bfloat16, the upper half of a float, and its pair, on both sides. */

#ifdef __cplusplus
#include "nuna/device/small_float_bits.h"

NUNA_SMALL unsigned short __nuna_bfloat_of(float value) {
  const unsigned bits = __nuna_float_bits(value);
  if (value != value) return 0x7fffu;
  return (unsigned short)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
NUNA_SMALL float __nuna_of_bfloat(unsigned short bits) { return __nuna_bits_float((unsigned)bits << 16); }

#define NUNA_T __nv_bfloat16
#define NUNA_T2 __nv_bfloat162
#define NUNA_RAW __nv_bfloat16_raw
#define NUNA_RAW2 __nv_bfloat162_raw
#define NUNA_NARROW __nuna_bfloat_of
#define NUNA_WIDEN __nuna_of_bfloat
#define NUNA_N bfloat16
#define NUNA_N2 bfloat162
#define NUNA_2N2 2bfloat162
#define NUNA_HALVES halves
#define NUNA_HIGH 0x7f7fu
/* In this order. */
/* clang-format off */
#include "nuna/device/small_float_type.inc"
#include "nuna/device/small_float_functions.inc"
#include "nuna/device/small_float_names.inc"
#include "nuna/device/small_float_end.inc"
/* clang-format on */

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
#endif
