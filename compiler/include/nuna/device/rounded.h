#pragma once
/* Arithmetic with a named rounding. The CPU rounds to nearest; the other roundings follow exactly from the sign of the error, which
 * error-free transformations give. Where an error underflows (results below 2^-968 or so for double) the rounding may be to nearest. */

#include "nuna/device/intrinsics.h"

enum __nuna_rounding { __nuna_rz, __nuna_ru, __nuna_rd };

NUNA_DEVICE float __nuna_next(float x, bool up) {
  return __builtin_nextafterf(x, up ? __builtin_inff() : -__builtin_inff());
}
NUNA_DEVICE double __nuna_next(double x, bool up) {
  return __builtin_nextafter(x, up ? __builtin_inf() : -__builtin_inf());
}
NUNA_DEVICE float __nuna_sqrt(float x) { return __builtin_sqrtf(x); }
NUNA_DEVICE double __nuna_sqrt(double x) { return __builtin_sqrt(x); }
NUNA_DEVICE float __nuna_fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
NUNA_DEVICE double __nuna_fma(double x, double y, double z) { return __builtin_fma(x, y, z); }

/* The neighbour of `nearest` that the rounding wants. `error` has the sign of (exact value - nearest). An infinity out of finite
 * operands stays one only where the rounding leads to it. */
template <__nuna_rounding mode, class Real, class Error>
NUNA_DEVICE Real __nuna_nudge(Real nearest, Error error, bool finite) {
  const bool up = mode == __nuna_ru || (mode == __nuna_rz && nearest < 0);
  if (!finite || nearest != nearest) return nearest;
  if (__builtin_isinf(nearest)) return (nearest > 0) != up ? __nuna_next(nearest, up) : nearest;
  if (up ? error > 0 : error < 0)
    return mode == __nuna_rz && nearest == 0 ? nearest : __nuna_next(nearest, up);
  return nearest;
}

/* What x + y has over its rounded sum. */
template <class Real>
NUNA_DEVICE Real __nuna_sum_error(Real x, Real y, Real sum) {
  const Real of_y = sum - x;
  return (x - (sum - of_y)) + (y - of_y);
}

template <__nuna_rounding mode, class Real>
NUNA_DEVICE Real __nuna_add(Real x, Real y) {
  const Real sum = x + y;
  if (sum == 0 && x != 0) return mode == __nuna_rd ? -(Real)0 : (Real)0; /* x - x */
  return __nuna_nudge<mode>(sum, __nuna_sum_error(x, y, sum), __builtin_isfinite(x) && __builtin_isfinite(y));
}
template <__nuna_rounding mode, class Real>
NUNA_DEVICE Real __nuna_multiply(Real x, Real y) {
  const Real product = x * y;
  return __nuna_nudge<mode>(product, __nuna_fma(x, y, -product),
                            __builtin_isfinite(x) && __builtin_isfinite(y));
}
template <__nuna_rounding mode, class Real>
NUNA_DEVICE Real __nuna_divide(Real x, Real y) {
  const Real quotient = x / y;
  const Real rest = __nuna_fma(-quotient, y, x);
  return __nuna_nudge<mode>(quotient, y < 0 ? -rest : rest,
                            __builtin_isfinite(x) && __builtin_isfinite(y) && y != 0);
}
template <__nuna_rounding mode, class Real>
NUNA_DEVICE Real __nuna_square_root(Real x) {
  const Real root = __nuna_sqrt(x);
  return __nuna_nudge<mode>(root, __nuna_fma(-root, root, x), __builtin_isfinite(x));
}
/* Boldo and Muller: the error of a fused multiply-add is the sum of two numbers. */
template <__nuna_rounding mode, class Real>
NUNA_DEVICE Real __nuna_multiply_add(Real x, Real y, Real z) {
  const Real nearest = __nuna_fma(x, y, z);
  const Real high = x * y, low = __nuna_fma(x, y, -high);
  const Real a = z + low, a_error = __nuna_sum_error(z, low, a);
  const Real b = high + a, b_error = __nuna_sum_error(high, a, b);
  const Real c = (b - nearest) + b_error;
  const Real error = c + a_error;
  return __nuna_nudge<mode>(nearest, error,
                            __builtin_isfinite(x) && __builtin_isfinite(y) && __builtin_isfinite(z));
}

#define NUNA_ROUNDED(mode)                                                                              \
  NUNA_DEVICE float __fadd_##mode(float x, float y) { return __nuna_add<__nuna_##mode>(x, y); }         \
  NUNA_DEVICE float __fsub_##mode(float x, float y) { return __nuna_add<__nuna_##mode>(x, -y); }        \
  NUNA_DEVICE float __fmul_##mode(float x, float y) { return __nuna_multiply<__nuna_##mode>(x, y); }    \
  NUNA_DEVICE float __fdiv_##mode(float x, float y) { return __nuna_divide<__nuna_##mode>(x, y); }      \
  NUNA_DEVICE float __frcp_##mode(float x) { return __nuna_divide<__nuna_##mode>(1.0f, x); }            \
  NUNA_DEVICE float __fsqrt_##mode(float x) { return __nuna_square_root<__nuna_##mode>(x); }            \
  NUNA_DEVICE float __fmaf_##mode(float x, float y, float z) {                                          \
    return __nuna_multiply_add<__nuna_##mode>(x, y, z);                                                 \
  }                                                                                                     \
  NUNA_DEVICE double __dadd_##mode(double x, double y) { return __nuna_add<__nuna_##mode>(x, y); }      \
  NUNA_DEVICE double __dsub_##mode(double x, double y) { return __nuna_add<__nuna_##mode>(x, -y); }     \
  NUNA_DEVICE double __dmul_##mode(double x, double y) { return __nuna_multiply<__nuna_##mode>(x, y); } \
  NUNA_DEVICE double __ddiv_##mode(double x, double y) { return __nuna_divide<__nuna_##mode>(x, y); }   \
  NUNA_DEVICE double __drcp_##mode(double x) { return __nuna_divide<__nuna_##mode>(1.0, x); }           \
  NUNA_DEVICE double __dsqrt_##mode(double x) { return __nuna_square_root<__nuna_##mode>(x); }          \
  NUNA_DEVICE double __fma_##mode(double x, double y, double z) {                                       \
    return __nuna_multiply_add<__nuna_##mode>(x, y, z);                                                 \
  }
NUNA_ROUNDED(rz)
NUNA_ROUNDED(ru)
NUNA_ROUNDED(rd)
#undef NUNA_ROUNDED

#define NUNA_NEAREST(prefix, Real, fma_name, suffix)                                 \
  NUNA_DEVICE Real __##prefix##add_rn(Real x, Real y) { return x + y; }              \
  NUNA_DEVICE Real __##prefix##sub_rn(Real x, Real y) { return x - y; }              \
  NUNA_DEVICE Real __##prefix##mul_rn(Real x, Real y) { return x * y; }              \
  NUNA_DEVICE Real __##prefix##div_rn(Real x, Real y) { return x / y; }              \
  NUNA_DEVICE Real __##prefix##rcp_rn(Real x) { return 1 / x; }                      \
  NUNA_DEVICE Real __##prefix##sqrt_rn(Real x) { return __builtin_sqrt##suffix(x); } \
  NUNA_DEVICE Real fma_name(Real x, Real y, Real z) { return __builtin_fma##suffix(x, y, z); }
NUNA_NEAREST(f, float, __fmaf_rn, f)
NUNA_NEAREST(d, double, __fma_rn, )
#undef NUNA_NEAREST
NUNA_DEVICE float __frsqrt_rn(float x) { return (float)(1.0 / __builtin_sqrt((double)x)); }
