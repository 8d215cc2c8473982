#pragma once
/* What CUDA's mathematics has beyond <cmath>, which is on both sides already (standard.h). Written on clang's builtins, so that the
 * optimiser sees intrinsics and the thread loop vectorises. The less common functions are in special.h. */

#include "nuna/device/intrinsics.h"
#include "nuna/device/standard.h"

/* glibc declares these, the ones with two underscores without a definition anyone could link. gnu_inline: never emitted. */
extern "C" {
#define NUNA_OF_LIBC __host__ __device__ extern __inline__ __attribute__((always_inline, gnu_inline))
NUNA_OF_LIBC void sincosf(float x, float* sine, float* cosine) noexcept {
  *sine = __builtin_sinf(x);
  *cosine = __builtin_cosf(x);
}
NUNA_OF_LIBC void sincos(double x, double* sine, double* cosine) noexcept {
  *sine = __builtin_sin(x);
  *cosine = __builtin_cos(x);
}
NUNA_OF_LIBC float exp10f(float x) noexcept { return __builtin_exp10f(x); }
NUNA_OF_LIBC double exp10(double x) noexcept { return __builtin_exp10(x); }
NUNA_OF_LIBC float __sinf(float x) noexcept { return __builtin_sinf(x); }
NUNA_OF_LIBC float __cosf(float x) noexcept { return __builtin_cosf(x); }
NUNA_OF_LIBC float __tanf(float x) noexcept { return __builtin_tanf(x); }
NUNA_OF_LIBC float __tanhf(float x) noexcept { return __builtin_tanhf(x); }
NUNA_OF_LIBC float __expf(float x) noexcept { return __builtin_expf(x); }
NUNA_OF_LIBC float __exp10f(float x) noexcept { return __builtin_exp10f(x); }
NUNA_OF_LIBC float __logf(float x) noexcept { return __builtin_logf(x); }
NUNA_OF_LIBC float __log2f(float x) noexcept { return __builtin_log2f(x); }
NUNA_OF_LIBC float __log10f(float x) noexcept { return __builtin_log10f(x); }
NUNA_OF_LIBC float __powf(float x, float y) noexcept { return __builtin_powf(x, y); }
NUNA_OF_LIBC void __sincosf(float x, float* sine, float* cosine) noexcept {
  *sine = __builtin_sinf(x);
  *cosine = __builtin_cosf(x);
}
#undef NUNA_OF_LIBC
}

/* Clang knows that the others of <math.h> depend on nothing but their arguments; of these it does not. */
#define NUNA_PURE_1(name, type) \
  extern "C" __host__ __device__ __attribute__((const)) type name(type) noexcept;
#define NUNA_PURE(name) NUNA_PURE_1(name, double) NUNA_PURE_1(name##f, float)
NUNA_PURE(j0)
NUNA_PURE(j1)
NUNA_PURE(y0)
NUNA_PURE(y1)
NUNA_PURE(lgamma)
#undef NUNA_PURE
#undef NUNA_PURE_1

NUNA_BOTH float exp10(float x) { return __builtin_exp10f(x); }
NUNA_BOTH void sincos(float x, float* sine, float* cosine) { sincosf(x, sine, cosine); }

NUNA_BOTH float rsqrtf(float x) { return 1.0f / __builtin_sqrtf(x); }
NUNA_BOTH double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }
NUNA_BOTH float rsqrt(float x) { return rsqrtf(x); }
NUNA_BOTH float rcbrtf(float x) { return 1.0f / ::cbrtf(x); }
NUNA_BOTH double rcbrt(double x) { return 1.0 / ::cbrt(x); }
NUNA_BOTH float rcbrt(float x) { return rcbrtf(x); }
NUNA_BOTH float fdividef(float x, float y) { return x / y; }
NUNA_BOTH double fdivide(double x, double y) { return x / y; }
NUNA_BOTH float fdivide(float x, float y) { return x / y; }
NUNA_DEVICE float __fdividef(float x, float y) { return x / y; }
NUNA_DEVICE float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
NUNA_DEVICE float saturate(float x) { return __saturatef(x); }

/* The quadrant of 2 x and what is left of x behind it, exact: sin and cos of pi x. */
template <class Real>
struct __nuna_turn {
  Real rest;
  int quadrant;
};
NUNA_BOTH __nuna_turn<double> __nuna_half_turns(double x) {
  const double n = __builtin_rint(2.0 * x);
  const double quarter = n - 4.0 * __builtin_floor(0.25 * n);
  return {__builtin_fma(-0.5, n, x), (int)(quarter == quarter ? quarter : 0.0)};
}
NUNA_BOTH __nuna_turn<float> __nuna_half_turns(float x) {
  const float n = __builtin_rintf(2.0f * x);
  const float quarter = n - 4.0f * __builtin_floorf(0.25f * n);
  return {__builtin_fmaf(-0.5f, n, x), (int)(quarter == quarter ? quarter : 0.0f)};
}
NUNA_BOTH void sincospi(double x, double* sine, double* cosine) {
  const __nuna_turn<double> turn = __nuna_half_turns(x);
  const double angle = turn.rest * 3.14159265358979323846;
  const double s = __builtin_sin(angle), c = __builtin_cos(angle);
  const double odd = turn.quadrant & 1 ? c : s, even = turn.quadrant & 1 ? s : c;
  *sine = turn.quadrant & 2 ? 0.0 - odd : turn.rest == 0.0 && odd == 0.0 ? x * 0.0 : odd;
  *cosine = (turn.quadrant + 1) & 2 ? 0.0 - even : even;
}
NUNA_BOTH void sincospif(float x, float* sine, float* cosine) {
  const __nuna_turn<float> turn = __nuna_half_turns(x);
  const float angle = (float)(turn.rest * 3.14159265358979323846);
  const float s = __builtin_sinf(angle), c = __builtin_cosf(angle);
  const float odd = turn.quadrant & 1 ? c : s, even = turn.quadrant & 1 ? s : c;
  *sine = turn.quadrant & 2 ? 0.0f - odd : turn.rest == 0.0f && odd == 0.0f ? x * 0.0f : odd;
  *cosine = (turn.quadrant + 1) & 2 ? 0.0f - even : even;
}
NUNA_BOTH void sincospi(float x, float* sine, float* cosine) { sincospif(x, sine, cosine); }
NUNA_BOTH double sinpi(double x) {
  double sine, cosine;
  sincospi(x, &sine, &cosine);
  return sine;
}
NUNA_BOTH double cospi(double x) {
  double sine, cosine;
  sincospi(x, &sine, &cosine);
  return cosine;
}
NUNA_BOTH float sinpif(float x) {
  float sine, cosine;
  sincospif(x, &sine, &cosine);
  return sine;
}
NUNA_BOTH float cospif(float x) {
  float sine, cosine;
  sincospif(x, &sine, &cosine);
  return cosine;
}
NUNA_BOTH float sinpi(float x) { return sinpif(x); }
NUNA_BOTH float cospi(float x) { return cospif(x); }

/* min and max, for every pair of types that CUDA names. Of two floating numbers the one that is no NaN. */
#define NUNA_MINMAX(result, A, B)                                                          \
  NUNA_BOTH result min(A a, B b) { return (result)a < (result)b ? (result)a : (result)b; } \
  NUNA_BOTH result max(A a, B b) { return (result)a > (result)b ? (result)a : (result)b; }
#define NUNA_MINMAX_SIGNS(Signed, Unsigned) \
  NUNA_MINMAX(Signed, Signed, Signed)       \
  NUNA_MINMAX(Unsigned, Unsigned, Unsigned) \
  NUNA_MINMAX(Unsigned, Signed, Unsigned)   \
  NUNA_MINMAX(Unsigned, Unsigned, Signed)
NUNA_MINMAX_SIGNS(int, unsigned int)
NUNA_MINMAX_SIGNS(long, unsigned long)
NUNA_MINMAX_SIGNS(long long, unsigned long long)
#undef NUNA_MINMAX_SIGNS
#undef NUNA_MINMAX
NUNA_BOTH float min(float a, float b) { return __builtin_fminf(a, b); }
NUNA_BOTH float max(float a, float b) { return __builtin_fmaxf(a, b); }
NUNA_BOTH double min(double a, double b) { return __builtin_fmin(a, b); }
NUNA_BOTH double max(double a, double b) { return __builtin_fmax(a, b); }
NUNA_BOTH double min(float a, double b) { return __builtin_fmin(a, b); }
NUNA_BOTH double max(float a, double b) { return __builtin_fmax(a, b); }
NUNA_BOTH double min(double a, float b) { return __builtin_fmin(a, b); }
NUNA_BOTH double max(double a, float b) { return __builtin_fmax(a, b); }

NUNA_BOTH unsigned umin(unsigned a, unsigned b) { return a < b ? a : b; }
NUNA_BOTH unsigned umax(unsigned a, unsigned b) { return a > b ? a : b; }
NUNA_BOTH long long llmin(long long a, long long b) { return a < b ? a : b; }
NUNA_BOTH long long llmax(long long a, long long b) { return a > b ? a : b; }
NUNA_BOTH unsigned long long ullmin(unsigned long long a, unsigned long long b) { return a < b ? a : b; }
NUNA_BOTH unsigned long long ullmax(unsigned long long a, unsigned long long b) { return a > b ? a : b; }
