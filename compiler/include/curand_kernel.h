#pragma once
/* cuRAND in kernels: XORWOW and Philox4x32-10, integers, uniform, normal, log-normal and Poisson numbers. Integers and
 * uniform numbers are cuRAND's own; normal ones as far as the mathematical functions agree; Poisson ones in distribution. */

#include "cuda_runtime.h"

#ifdef NUNA_CUDA_MODE
#include "nuna/device/philox.h"
#include "nuna/device/xorwow.h"

#define NUNA_RANDOM      \
  template <class State> \
  static __inline__ __attribute__((unused)) __device__

#define CURAND_2POW32_INV (2.3283064e-10f)
#define CURAND_2POW53_INV_DOUBLE (1.1102230246251565e-16)

/* In (0, 1]. */
NUNA_DEVICE float _curand_uniform(unsigned x) {
  return (float)x * CURAND_2POW32_INV + CURAND_2POW32_INV / 2.0f;
}
NUNA_DEVICE double _curand_uniform_double_hq(unsigned x, unsigned y) {
  const unsigned long long z = (unsigned long long)x ^ (unsigned long long)y << 21;
  return (double)z * CURAND_2POW53_INV_DOUBLE + CURAND_2POW53_INV_DOUBLE / 2.0;
}
NUNA_DEVICE float2 _curand_box_muller(unsigned x, unsigned y) {
  const float turn = CURAND_2POW32_INV * 6.2831855f;
  const float angle = (float)y * turn + turn / 2.0f;
  const float radius = __builtin_sqrtf(-2.0f * __builtin_logf(_curand_uniform(x)));
  return make_float2(__builtin_sinf(angle) * radius, __builtin_cosf(angle) * radius);
}
NUNA_DEVICE double2 _curand_box_muller_double(unsigned x0, unsigned x1, unsigned y0, unsigned y1) {
  const unsigned long long z = (unsigned long long)y0 ^ (unsigned long long)y1 << 21;
  const double half_turns = (double)z * (CURAND_2POW53_INV_DOUBLE * 2.0) + CURAND_2POW53_INV_DOUBLE;
  const double radius = __builtin_sqrt(-2.0 * __builtin_log(_curand_uniform_double_hq(x0, x1)));
  double2 result;
  sincospi(half_turns, &result.x, &result.y);
  result.x *= radius;
  result.y *= radius;
  return result;
}

NUNA_RANDOM auto curand_uniform(State* state) -> decltype((float)curand(state)) {
  return _curand_uniform(curand(state));
}
NUNA_RANDOM auto curand_uniform_double(State* state) -> decltype((double)curand(state)) {
  const unsigned x = curand(state), y = curand(state);
  return _curand_uniform_double_hq(x, y);
}
NUNA_RANDOM auto curand_normal2(State* state) -> decltype(curand(state), float2()) {
  const unsigned x = curand(state), y = curand(state);
  return _curand_box_muller(x, y);
}
NUNA_RANDOM auto curand_normal2_double(State* state) -> decltype(curand(state), double2()) {
  const unsigned x0 = curand(state), x1 = curand(state), y0 = curand(state), y1 = curand(state);
  return _curand_box_muller_double(x0, x1, y0, y1);
}
NUNA_RANDOM auto curand_normal(State* state) -> decltype((float)curand(state)) {
  state->boxmuller_flag = !state->boxmuller_flag;
  if (!state->boxmuller_flag) return state->boxmuller_extra;
  const float2 pair = curand_normal2(state);
  state->boxmuller_extra = pair.y;
  return pair.x;
}
NUNA_RANDOM auto curand_normal_double(State* state) -> decltype((double)curand(state)) {
  state->boxmuller_flag_double = !state->boxmuller_flag_double;
  if (!state->boxmuller_flag_double) return state->boxmuller_extra_double;
  const double2 pair = curand_normal2_double(state);
  state->boxmuller_extra_double = pair.y;
  return pair.x;
}
NUNA_RANDOM float curand_log_normal(State* state, float mean, float deviation) {
  return __builtin_expf(mean + deviation * curand_normal(state));
}
NUNA_RANDOM double curand_log_normal_double(State* state, double mean, double deviation) {
  return __builtin_exp(mean + deviation * curand_normal_double(state));
}
/* Knuth's product for small means; for large ones sums of such, a Poisson number of mean a + b being one of a and one of b. */
NUNA_RANDOM unsigned curand_poisson(State* state, double mean) {
  unsigned count = 0;
  while (mean > 0.0) {
    const double part = mean > 500.0 ? 500.0 : mean, floor = __builtin_exp(-part);
    for (double product = curand_uniform_double(state); product > floor;
         product *= curand_uniform_double(state))
      ++count;
    mean -= part;
  }
  return count;
}

NUNA_DEVICE float4 curand_uniform4(curandStatePhilox4_32_10_t* state) {
  const uint4 x = curand4(state);
  return make_float4(_curand_uniform(x.x), _curand_uniform(x.y), _curand_uniform(x.z), _curand_uniform(x.w));
}
NUNA_DEVICE double2 curand_uniform2_double(curandStatePhilox4_32_10_t* state) {
  const uint4 x = curand4(state);
  return make_double2(_curand_uniform_double_hq(x.x, x.y), _curand_uniform_double_hq(x.z, x.w));
}
NUNA_DEVICE float4 curand_normal4(curandStatePhilox4_32_10_t* state) {
  const uint4 x = curand4(state);
  const float2 a = _curand_box_muller(x.x, x.y), b = _curand_box_muller(x.z, x.w);
  return make_float4(a.x, a.y, b.x, b.y);
}

#undef NUNA_RANDOM
#endif
