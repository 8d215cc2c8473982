#pragma once
/* CUDA's special functions and norms that the C library lacks: computed in double, the float versions are these rounded. */

#include "nuna/device/math.h"

/* x > 0 with erfc(x) = y for y in (0, 1): a start from the asymptotic series (tail) or a rational fit (middle), then Newton's steps
 * on log erfc, which is nearly a parabola and so converges from anywhere here. */
NUNA_BOTH double __nuna_erfcinv_positive(double y) {
  const double w = -__builtin_log(y);
  double x = 0.8862269254527580 * (1.0 - y);
  if (y < 0.1) {
    x = __builtin_sqrt(w);
    for (int i = 0; i < 2; ++i) x = __builtin_sqrt(w - __builtin_log(1.7724538509055161 * x));
  }
  for (int i = 0; i < 8; ++i) {
    const double value = ::erfc(x);
    const double slope = 1.1283791670955126 * __builtin_exp(-x * x);
    const double step =
        y < 0.5 ? value * __builtin_log(value / y) / slope : (value - y) / (slope - x * (value - y));
    x += step;
    if (__builtin_fabs(step) < 1e-9 * x) break; /* the next step would be smaller than the rounding */
  }
  return x;
}
NUNA_BOTH double erfcinv(double y) {
  if (!(y >= 0.0 && y <= 2.0)) return __builtin_nan("");
  if (y == 0.0) return __builtin_inf();
  if (y == 2.0) return -__builtin_inf();
  if (y == 1.0) return 0.0;
  return y < 1.0 ? __nuna_erfcinv_positive(y) : -__nuna_erfcinv_positive(2.0 - y);
}
NUNA_BOTH double erfinv(double y) {
  if (!(y >= -1.0 && y <= 1.0)) return __builtin_nan("");
  const double size = __builtin_fabs(y);
  if (size == 1.0) return y * __builtin_inf();
  if (size > 0.5) return __builtin_copysign(__nuna_erfcinv_positive(1.0 - size), y);
  /* The series, then Newton-Halley on erf itself. */
  double x = 0.8862269254527580 * y * (1.0 + y * y * (0.2617993877991494 + y * y * 0.14393173084921980));
  for (int i = 0; i < 3 && x != 0.0; ++i) {
    const double over = ::erf(x) - y;
    x -= over / (1.1283791670955126 * __builtin_exp(-x * x) + x * over);
  }
  return x;
}
NUNA_BOTH double erfcx(double x) {
  if (x < 20.0) {
    if (x < -26.7) return __builtin_inf();
    const double square = x * x;
    return __builtin_exp(square) * (1.0 + __builtin_fma(x, x, -square)) * ::erfc(x);
  }
  const double t = 0.5 / (x * x);
  double sum = 1.0;
  for (int k = 15; k > 0; k -= 2) sum = 1.0 - k * t * sum;
  return 0.56418958354775629 / x * sum;
}
NUNA_BOTH double normcdf(double x) { return 0.5 * ::erfc(-0.70710678118654752 * x); }
NUNA_BOTH double normcdfinv(double p) { return -1.4142135623730951 * erfcinv(2.0 * p); }

/* All terms are positive, so the series is accurate; it needs about |x| of them. */
NUNA_BOTH double __nuna_bessel_i(int order, double x) {
  if (!__builtin_isfinite(x)) return order ? x : x * x;
  const double quarter = 0.25 * x * x;
  double term = order ? 0.5 * x : 1.0, sum = term;
  for (int k = 1; k < 1500 && __builtin_fabs(term) > 1e-17 * __builtin_fabs(sum); ++k) {
    term *= quarter / ((double)k * (k + order));
    sum += term;
  }
  return sum;
}
NUNA_BOTH double cyl_bessel_i0(double x) { return __nuna_bessel_i(0, x); }
NUNA_BOTH double cyl_bessel_i1(double x) { return __nuna_bessel_i(1, x); }

#define NUNA_FLOAT_TOO(name)                                          \
  NUNA_BOTH float name##f(float x) { return (float)name((double)x); } \
  NUNA_BOTH float name(float x) { return (float)name((double)x); }
NUNA_FLOAT_TOO(erfcinv)
NUNA_FLOAT_TOO(erfinv)
NUNA_FLOAT_TOO(erfcx)
NUNA_FLOAT_TOO(normcdf)
NUNA_FLOAT_TOO(normcdfinv)
NUNA_FLOAT_TOO(cyl_bessel_i0)
NUNA_FLOAT_TOO(cyl_bessel_i1)
#undef NUNA_FLOAT_TOO

/* Euclidean lengths, without overflow on the way: scaled by the largest component for double, in double for float. */
NUNA_BOTH double __nuna_norm(int dim, const double* v) {
  double largest = 0.0;
  bool nan = false;
  for (int i = 0; i < dim; ++i) {
    nan |= v[i] != v[i];
    largest = __builtin_fmax(largest, __builtin_fabs(v[i]));
  }
  if (__builtin_isinf(largest)) return largest;
  if (nan) return __builtin_nan("");
  if (largest == 0.0) return 0.0;
  /* A power of two, so that scaling rounds nothing. */
  const int exponent = largest > 1e150 ? -600 : largest < 1e-140 ? 600 : 0;
  const double scale = exponent == 0 ? 1.0 : exponent < 0 ? 0x1p-600 : 0x1p600;
  double sum = 0.0;
  for (int i = 0; i < dim; ++i) sum += (v[i] * scale) * (v[i] * scale);
  return __builtin_sqrt(sum) / scale;
}
NUNA_BOTH double norm(int dim, const double* v) { return __nuna_norm(dim, v); }
NUNA_BOTH double rnorm(int dim, const double* v) { return 1.0 / __nuna_norm(dim, v); }
NUNA_BOTH double norm3d(double a, double b, double c) {
  const double v[3] = {a, b, c};
  return __nuna_norm(3, v);
}
NUNA_BOTH double norm4d(double a, double b, double c, double d) {
  const double v[4] = {a, b, c, d};
  return __nuna_norm(4, v);
}
NUNA_BOTH double rnorm3d(double a, double b, double c) { return 1.0 / norm3d(a, b, c); }
NUNA_BOTH double rnorm4d(double a, double b, double c, double d) { return 1.0 / norm4d(a, b, c, d); }
NUNA_BOTH double rhypot(double a, double b) { return 1.0 / ::hypot(a, b); }

NUNA_BOTH double __nuna_squares(const float* v, int dim) {
  double sum = 0.0;
  for (int i = 0; i < dim; ++i) {
    if (__builtin_isinf(v[i])) return __builtin_inf();
    sum += (double)v[i] * v[i];
  }
  return sum;
}
NUNA_BOTH float normf(int dim, const float* v) { return (float)__builtin_sqrt(__nuna_squares(v, dim)); }
NUNA_BOTH float rnormf(int dim, const float* v) {
  return (float)(1.0 / __builtin_sqrt(__nuna_squares(v, dim)));
}
NUNA_BOTH float norm(int dim, const float* v) { return normf(dim, v); }
NUNA_BOTH float rnorm(int dim, const float* v) { return rnormf(dim, v); }
NUNA_BOTH float norm3df(float a, float b, float c) {
  const float v[3] = {a, b, c};
  return normf(3, v);
}
NUNA_BOTH float norm4df(float a, float b, float c, float d) {
  const float v[4] = {a, b, c, d};
  return normf(4, v);
}
NUNA_BOTH float rnorm3df(float a, float b, float c) {
  const float v[3] = {a, b, c};
  return rnormf(3, v);
}
NUNA_BOTH float rnorm4df(float a, float b, float c, float d) {
  const float v[4] = {a, b, c, d};
  return rnormf(4, v);
}
NUNA_BOTH float rhypotf(float a, float b) {
  const float v[2] = {a, b};
  return rnormf(2, v);
}
NUNA_BOTH float norm3d(float a, float b, float c) { return norm3df(a, b, c); }
NUNA_BOTH float norm4d(float a, float b, float c, float d) { return norm4df(a, b, c, d); }
NUNA_BOTH float rnorm3d(float a, float b, float c) { return rnorm3df(a, b, c); }
NUNA_BOTH float rnorm4d(float a, float b, float c, float d) { return rnorm4df(a, b, c, d); }
NUNA_BOTH float rhypot(float a, float b) { return rhypotf(a, b); }
