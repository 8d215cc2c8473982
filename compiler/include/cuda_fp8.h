#pragma once
/* Floats of 8 bits: __nv_fp8_e4m3 (4 bits of exponent, no infinity, up to 448) and __nv_fp8_e5m2 (the upper half of a half, up to
 * 57344), their pairs and fours, on both sides. Numbers are rounded to nearest, ties to even. */

#ifdef __cplusplus
#include "cuda_bf16.h"
#include "cuda_fp16.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;

/* Beyond the largest: that one, or NaN (e4m3) and infinity (e5m2). */
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };

NUNA_SMALL __nv_fp8_storage_t __nv_cvt_double_to_fp8(double x, __nv_saturation_t saturate,
                                                     __nv_fp8_interpretation_t kind) {
  const int mantissa = kind == __NV_E4M3 ? 3 : 2, bias = kind == __NV_E4M3 ? 7 : 15;
  const unsigned largest = kind == __NV_E4M3 ? 0x7eu : 0x7bu;
  const unsigned beyond = saturate == __NV_SATFINITE ? largest : kind == __NV_E4M3 ? 0x7fu : 0x7cu;
  if (x != x) return 0x7fu;
  unsigned long long bits;
  __builtin_memcpy(&bits, &x, 8);
  const unsigned sign = (unsigned)(bits >> 56) & 0x80u;
  bits &= 0x7fffffffffffffffull;
  double size;
  __builtin_memcpy(&size, &bits, 8);
  if (size >= 65536.0) return (__nv_fp8_storage_t)(sign | beyond);
  int exponent = (int)(bits >> 52) - 1023;
  if (exponent < 1 - bias) exponent = 1 - bias;
  /* In units of the last place, by a power of two. */
  const unsigned long long scale_bits = (unsigned long long)(1023 + mantissa - exponent) << 52;
  double scale;
  __builtin_memcpy(&scale, &scale_bits, 8);
  const unsigned units = (unsigned)__builtin_rint(size * scale);
  const unsigned code = ((unsigned)(exponent + bias - 1) << mantissa) + units;
  return (__nv_fp8_storage_t)(sign | (code > largest ? beyond : code));
}
NUNA_SMALL __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t saturate,
                                                    __nv_fp8_interpretation_t kind) {
  return __nv_cvt_double_to_fp8((double)x, saturate, kind);
}
NUNA_SMALL __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw x, __nv_saturation_t saturate,
                                                      __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float_to_fp8(__nuna_of_half(x.x), saturate, kind);
}
NUNA_SMALL __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw x, __nv_saturation_t saturate,
                                                          __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float_to_fp8(__nuna_of_bfloat(x.x), saturate, kind);
}
#define NUNA_PAIR(name, Pair, from)                                                                          \
  NUNA_SMALL __nv_fp8x2_storage_t name(Pair x, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) { \
    return (__nv_fp8x2_storage_t)((unsigned)from(x.x, saturate, kind) |                                      \
                                  ((unsigned)from(x.y, saturate, kind) << 8));                               \
  }
NUNA_PAIR(__nv_cvt_double2_to_fp8x2, double2, __nv_cvt_double_to_fp8)
NUNA_PAIR(__nv_cvt_float2_to_fp8x2, float2, __nv_cvt_float_to_fp8)
#undef NUNA_PAIR
NUNA_SMALL __nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(__half2_raw x, __nv_saturation_t saturate,
                                                           __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float2_to_fp8x2(make_float2(__nuna_of_half(x.x), __nuna_of_half(x.y)), saturate, kind);
}
NUNA_SMALL __nv_fp8x2_storage_t __nv_cvt_bfloat16raw2_to_fp8x2(__nv_bfloat162_raw x,
                                                               __nv_saturation_t saturate,
                                                               __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float2_to_fp8x2(make_float2(__nuna_of_bfloat(x.x), __nuna_of_bfloat(x.y)), saturate, kind);
}

/* The bits of a half, which can say all of it. */
NUNA_SMALL unsigned short __nuna_fp8_half(__nv_fp8_storage_t x, __nv_fp8_interpretation_t kind) {
  const unsigned sign = (x & 0x80u) << 8, rest = x & 0x7fu;
  if (kind == __NV_E5M2) return (unsigned short)(rest > 0x7cu ? 0x7fffu : sign | (rest << 8));
  if (rest == 0x7fu) return 0x7fffu;
  /* As a half its exponent is 8 too small. */
  const _Float16 scale = (_Float16)256.0f;
  const unsigned short small = (unsigned short)(sign | (rest << 7));
  _Float16 value;
  __builtin_memcpy(&value, &small, 2);
  value = (_Float16)((float)value * (float)scale);
  unsigned short bits;
  __builtin_memcpy(&bits, &value, 2);
  return bits;
}
NUNA_SMALL __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x, __nv_fp8_interpretation_t kind) {
  __half_raw raw;
  raw.x = __nuna_fp8_half(x, kind);
  return raw;
}
NUNA_SMALL __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t x, __nv_fp8_interpretation_t kind) {
  __half2_raw raw;
  raw.x = __nuna_fp8_half((__nv_fp8_storage_t)(x & 0xffu), kind);
  raw.y = __nuna_fp8_half((__nv_fp8_storage_t)(x >> 8), kind);
  return raw;
}
NUNA_SMALL float __nuna_fp8_float(unsigned x, __nv_fp8_interpretation_t kind) {
  return __nuna_of_half(__nuna_fp8_half((__nv_fp8_storage_t)(x & 0xffu), kind));
}

/* Towards zero, within the integer's range; NaN is 0. */
template <class Integer>
NUNA_SMALL Integer __nuna_fp8_integer(float x) {
  const bool negative_too = (Integer)-1 < (Integer)0;
  const int bits = (int)sizeof(Integer) * 8 - (negative_too ? 1 : 0);
  const Integer most = (Integer)(~0ull >> (64 - bits));
  if (x != x) return 0;
  if (x <= 0.0f && !negative_too) return 0;
  if (x >= (float)most) return most;
  return x <= -(float)most - 1.0f ? (Integer)(-most - 1) : (Integer)x;
}

#define NUNA_FP8_FROM(T)             \
  explicit NUNA_FP8 NUNA_T8(T value) \
      : __x(__nv_cvt_double_to_fp8((double)value, __NV_SATFINITE, NUNA_KIND)) {}
#define NUNA_FP8_TO(T) \
  explicit NUNA_FP8 operator T() const { return __nuna_fp8_integer<T>((float)*this); }
#define NUNA_FP8 __host__ __device__

#define NUNA_T8 __nv_fp8_e4m3
#define NUNA_T8X2 __nv_fp8x2_e4m3
#define NUNA_T8X4 __nv_fp8x4_e4m3
#define NUNA_KIND __NV_E4M3
#include "nuna/device/fp8_types.inc"
#define NUNA_T8 __nv_fp8_e5m2
#define NUNA_T8X2 __nv_fp8x2_e5m2
#define NUNA_T8X4 __nv_fp8x4_e5m2
#define NUNA_KIND __NV_E5M2
#include "nuna/device/fp8_types.inc"

#undef NUNA_FP8
#undef NUNA_FP8_FROM
#undef NUNA_FP8_TO
#endif
