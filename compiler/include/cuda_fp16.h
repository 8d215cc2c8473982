#pragma once
/* half and half2, on both sides. Conversions are the compiler's of _Float16 (F16C where the CPU has it). */

#ifdef __cplusplus
#include "nuna/device/small_float_bits.h"

NUNA_SMALL unsigned short __nuna_half_of(float value) {
  const _Float16 narrow = (_Float16)value;
  unsigned short bits;
  __builtin_memcpy(&bits, &narrow, 2);
  return bits;
}
NUNA_SMALL float __nuna_of_half(unsigned short bits) {
  _Float16 narrow;
  __builtin_memcpy(&narrow, &bits, 2);
  return (float)narrow;
}

#define NUNA_T __half
#define NUNA_T2 __half2
#define NUNA_RAW __half_raw
#define NUNA_RAW2 __half2_raw
#define NUNA_NARROW __nuna_half_of
#define NUNA_WIDEN __nuna_of_half
#define NUNA_N half
#define NUNA_N2 half2
#define NUNA_2N2 2half2
#define NUNA_HALVES halves
#define NUNA_HIGH 0x7bffu
/* In this order. */
/* clang-format off */
#include "nuna/device/small_float_type.inc"
#include "nuna/device/small_float_functions.inc"
#include "nuna/device/small_float_names.inc"
#include "nuna/device/small_float_end.inc"
/* clang-format on */

NUNA_SMALL __half2 __lowhigh2highlow(__half2 a) { return __half2(a.y, a.x); }
NUNA_SMALL short __half2short_rz(__half a) { return (short)(float)a; }
NUNA_SMALL unsigned short __half2ushort_rz(__half a) { return (unsigned short)(float)a; }

typedef __half half;
typedef __half2 half2;
typedef __half nv_half;
typedef __half2 nv_half2;

#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7C00u)
#define CUDART_NAN_FP16 __ushort_as_half((unsigned short)0x7FFFu)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7BFFu)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half((unsigned short)0x0001u)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half((unsigned short)0x8000u)
#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0x0000u)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3C00u)
#endif
