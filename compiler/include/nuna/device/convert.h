#pragma once
/* Conversions with a named rounding: rn to nearest even, rz to zero, ru up, rd down. To integers they saturate, as the hardware
 * does; NaN is 0, or the highest bit where 64 bits take part. And bits seen as another type. */

#include "nuna/device/intrinsics.h"
#include "nuna/device/rounded.h"

NUNA_DEVICE int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
NUNA_DEVICE unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
NUNA_DEVICE float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
NUNA_DEVICE float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
NUNA_DEVICE long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
NUNA_DEVICE double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
NUNA_DEVICE int __double2hiint(double x) { return (int)(__builtin_bit_cast(unsigned long long, x) >> 32); }
NUNA_DEVICE int __double2loint(double x) { return (int)(unsigned)__builtin_bit_cast(unsigned long long, x); }
NUNA_DEVICE double __hiloint2double(int high, int low) {
  return __builtin_bit_cast(double, (unsigned long long)(unsigned)high << 32 | (unsigned)low);
}

/* `x` has no fraction. The bounds are powers of two, exact in both floating types. */
template <class Integer, class Real>
NUNA_DEVICE Integer __nuna_saturate(Real x, Integer nan) {
  const bool is_signed = (Integer)-1 < 0;
  const Real above = (Real)((Integer)1 << (8 * sizeof(Integer) - 2)) * (is_signed ? 2 : 4);
  const Integer lowest = is_signed ? (Integer)((Integer)1 << (8 * sizeof(Integer) - 2)) * -2 : 0;
  const Integer highest = (Integer)~lowest;
  if (x != x) return nan;
  if (x >= above) return highest;
  if (x < (Real)lowest) return lowest;
  return (Integer)x;
}

#define NUNA_TO_INTEGER_ONE(from, to, Real, Integer, nan, mode, round) \
  NUNA_DEVICE Integer __##from##2##to##_##mode(Real x) {               \
    return __nuna_saturate<Integer>(round(x), (Integer)(nan));         \
  }
#define NUNA_TO_INTEGER(from, to, Real, Integer, nan, suffix)                    \
  NUNA_TO_INTEGER_ONE(from, to, Real, Integer, nan, rn, __builtin_rint##suffix)  \
  NUNA_TO_INTEGER_ONE(from, to, Real, Integer, nan, rz, __builtin_trunc##suffix) \
  NUNA_TO_INTEGER_ONE(from, to, Real, Integer, nan, ru, __builtin_ceil##suffix)  \
  NUNA_TO_INTEGER_ONE(from, to, Real, Integer, nan, rd, __builtin_floor##suffix)
NUNA_TO_INTEGER(float, int, float, int, 0, f)
NUNA_TO_INTEGER(float, uint, float, unsigned, 0, f)
NUNA_TO_INTEGER(float, ll, float, long long, 1ull << 63, f)
NUNA_TO_INTEGER(float, ull, float, unsigned long long, 1ull << 63, f)
NUNA_TO_INTEGER(double, int, double, int, 1u << 31, )
NUNA_TO_INTEGER(double, uint, double, unsigned, 1u << 31, )
NUNA_TO_INTEGER(double, ll, double, long long, 1ull << 63, )
NUNA_TO_INTEGER(double, ull, double, unsigned long long, 1ull << 63, )
#undef NUNA_TO_INTEGER
#undef NUNA_TO_INTEGER_ONE

/* Wide holds every value of From; the error of rounding is exact in it. */
#define NUNA_TO_REAL(from, to, From, Real, Wide)                            \
  NUNA_DEVICE Real __##from##2##to##_rn(From x) { return (Real)x; }         \
  NUNA_DEVICE Real __##from##2##to##_rz(From x) {                           \
    return __nuna_nudge<__nuna_rz>((Real)x, (Wide)x - (Wide)(Real)x, true); \
  }                                                                         \
  NUNA_DEVICE Real __##from##2##to##_ru(From x) {                           \
    return __nuna_nudge<__nuna_ru>((Real)x, (Wide)x - (Wide)(Real)x, true); \
  }                                                                         \
  NUNA_DEVICE Real __##from##2##to##_rd(From x) {                           \
    return __nuna_nudge<__nuna_rd>((Real)x, (Wide)x - (Wide)(Real)x, true); \
  }
NUNA_TO_REAL(int, float, int, float, double)
NUNA_TO_REAL(uint, float, unsigned, float, double)
NUNA_TO_REAL(ll, float, long long, float, __int128)
NUNA_TO_REAL(ull, float, unsigned long long, float, __int128)
NUNA_TO_REAL(ll, double, long long, double, __int128)
NUNA_TO_REAL(ull, double, unsigned long long, double, __int128)
#undef NUNA_TO_REAL
NUNA_DEVICE double __int2double_rn(int x) { return x; }
NUNA_DEVICE double __uint2double_rn(unsigned x) { return x; }

#define NUNA_TO_FLOAT(mode)                                                                    \
  NUNA_DEVICE float __double2float_##mode(double x) {                                          \
    return __nuna_nudge<__nuna_##mode>((float)x, x - (double)(float)x, __builtin_isfinite(x)); \
  }
NUNA_TO_FLOAT(rz)
NUNA_TO_FLOAT(ru)
NUNA_TO_FLOAT(rd)
#undef NUNA_TO_FLOAT
NUNA_DEVICE float __double2float_rn(double x) { return (float)x; }
