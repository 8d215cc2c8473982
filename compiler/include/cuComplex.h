#pragma once
/* Complex numbers as pairs, on both sides, for C too. */

#include <math.h>

#include "vector_types.h"

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

#define NUNA_COMPLEX static __inline__ __attribute__((unused)) __host__ __device__
/* `f` is the infix of the name, `s` the suffix of C's functions. */
#define NUNA_COMPLEX_OF(T, Real, f, s)                                                   \
  NUNA_COMPLEX Real cuCreal##f(T x) { return x.x; }                                      \
  NUNA_COMPLEX Real cuCimag##f(T x) { return x.y; }                                      \
  NUNA_COMPLEX T __nuna_complex##f(Real r, Real i) {                                     \
    T z;                                                                                 \
    z.x = r;                                                                             \
    z.y = i;                                                                             \
    return z;                                                                            \
  }                                                                                      \
  NUNA_COMPLEX T cuConj##f(T x) { return __nuna_complex##f(x.x, -x.y); }                 \
  NUNA_COMPLEX T cuCadd##f(T x, T y) { return __nuna_complex##f(x.x + y.x, x.y + y.y); } \
  NUNA_COMPLEX T cuCsub##f(T x, T y) { return __nuna_complex##f(x.x - y.x, x.y - y.y); } \
  NUNA_COMPLEX T cuCmul##f(T x, T y) {                                                   \
    return __nuna_complex##f(x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x);              \
  }                                                                                      \
  /* Scaled, so that no square of y overflows. */                                        \
  NUNA_COMPLEX T cuCdiv##f(T x, T y) {                                                   \
    const Real scale = 1 / (__builtin_fabs##s(y.x) + __builtin_fabs##s(y.y));            \
    const Real a = x.x * scale, b = x.y * scale, c = y.x * scale, d = y.y * scale;       \
    const Real over = 1 / (c * c + d * d);                                               \
    return __nuna_complex##f((a * c + b * d) * over, (b * c - a * d) * over);            \
  }                                                                                      \
  NUNA_COMPLEX T cuCfma##f(T x, T y, T d) {                                              \
    return __nuna_complex##f(x.x * y.x + d.x - x.y * y.y, x.x * y.y + d.y + x.y * y.x);  \
  }                                                                                      \
  NUNA_COMPLEX Real cuCabs##f(T x) { return hypot##s(x.x, x.y); }

NUNA_COMPLEX_OF(cuFloatComplex, float, f, f)
NUNA_COMPLEX_OF(cuDoubleComplex, double, , )

NUNA_COMPLEX cuFloatComplex make_cuFloatComplex(float r, float i) { return __nuna_complexf(r, i); }
NUNA_COMPLEX cuDoubleComplex make_cuDoubleComplex(double r, double i) { return __nuna_complex(r, i); }
NUNA_COMPLEX cuComplex make_cuComplex(float r, float i) { return __nuna_complexf(r, i); }
NUNA_COMPLEX cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex x) {
  return __nuna_complexf((float)x.x, (float)x.y);
}
NUNA_COMPLEX cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex x) { return __nuna_complex(x.x, x.y); }

#undef NUNA_COMPLEX_OF
#undef NUNA_COMPLEX
