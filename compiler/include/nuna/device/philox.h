#pragma once
/* Philox4x32-10 (Salmon et al., 2011) with cuRAND's counters: the lower half counts, the upper half is the subsequence. */

#include "vector_types.h"

struct curandStatePhilox4_32_10 {
  uint4 ctr, output;
  uint2 key;
  unsigned int STATE;
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
typedef struct curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

#define NUNA_RANDOM static __inline__ __attribute__((unused)) __device__

NUNA_RANDOM uint4 curand_Philox4x32_10(uint4 c, uint2 k) {
  for (int round = 0; round < 10; ++round) {
    const unsigned long long a = (unsigned long long)0xD2511F53u * c.x;
    const unsigned long long b = (unsigned long long)0xCD9E8D57u * c.z;
    uint4 next;
    next.x = (unsigned)(b >> 32) ^ c.y ^ k.x;
    next.y = (unsigned)b;
    next.z = (unsigned)(a >> 32) ^ c.w ^ k.y;
    next.w = (unsigned)a;
    c = next;
    k.x += 0x9E3779B9u;
    k.y += 0xBB67AE85u;
  }
  return c;
}

NUNA_RANDOM void __nuna_philox_add(uint4* c, unsigned long long n, bool upper) {
  unsigned long long low = (unsigned long long)c->y << 32 | c->x,
                     high = (unsigned long long)c->w << 32 | c->z;
  if (upper) {
    high += n;
  } else {
    low += n;
    if (low < n) ++high;
  }
  c->x = (unsigned)low;
  c->y = (unsigned)(low >> 32);
  c->z = (unsigned)high;
  c->w = (unsigned)(high >> 32);
}
NUNA_RANDOM void skipahead(unsigned long long n, curandStatePhilox4_32_10_t* state) {
  state->STATE += (unsigned)(n & 3u);
  n /= 4;
  if (state->STATE > 3) {
    ++n;
    state->STATE -= 4;
  }
  __nuna_philox_add(&state->ctr, n, false);
  state->output = curand_Philox4x32_10(state->ctr, state->key);
}
NUNA_RANDOM void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10_t* state) {
  __nuna_philox_add(&state->ctr, n, true);
  state->output = curand_Philox4x32_10(state->ctr, state->key);
}
NUNA_RANDOM void curand_init(unsigned long long seed, unsigned long long subsequence,
                             unsigned long long offset, curandStatePhilox4_32_10_t* state) {
  state->ctr.x = state->ctr.y = state->ctr.z = state->ctr.w = 0;
  state->key.x = (unsigned)seed;
  state->key.y = (unsigned)(seed >> 32);
  state->STATE = 0;
  state->boxmuller_flag = state->boxmuller_flag_double = 0;
  state->boxmuller_extra = 0.0f;
  state->boxmuller_extra_double = 0.0;
  skipahead_sequence(subsequence, state);
  skipahead(offset, state);
}

NUNA_RANDOM unsigned int curand(curandStatePhilox4_32_10_t* state) {
  const uint4 o = state->output;
  const unsigned int result = state->STATE == 0   ? o.x
                              : state->STATE == 1 ? o.y
                              : state->STATE == 2 ? o.z
                                                  : o.w;
  if (++state->STATE == 4) {
    __nuna_philox_add(&state->ctr, 1, false);
    state->output = curand_Philox4x32_10(state->ctr, state->key);
    state->STATE = 0;
  }
  return result;
}
NUNA_RANDOM uint4 curand4(curandStatePhilox4_32_10_t* state) {
  uint4 result;
  result.x = curand(state);
  result.y = curand(state);
  result.z = curand(state);
  result.w = curand(state);
  return result;
}

#undef NUNA_RANDOM
