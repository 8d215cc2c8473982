#pragma once
/* Marsaglia's XORWOW with cuRAND's seeding: d + five shift registers; sequences lie 2^67 numbers apart. */

#include "crt/host_defines.h"
#include "nuna/device/xorwow_offsets.h"
#include "nuna/device/xorwow_sequences.h"

struct curandStateXORWOW {
  unsigned int d, v[5];
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
typedef struct curandStateXORWOW curandStateXORWOW_t;
typedef struct curandStateXORWOW curandState_t;
typedef struct curandStateXORWOW curandState;

#define NUNA_RANDOM static __inline__ __attribute__((unused)) __device__

NUNA_RANDOM unsigned int curand(curandStateXORWOW_t* state) {
  unsigned int* v = state->v;
  const unsigned int t = v[0] ^ (v[0] >> 2);
  v[0] = v[1];
  v[1] = v[2];
  v[2] = v[3];
  v[3] = v[4];
  v[4] = (v[4] ^ (v[4] << 4)) ^ (t ^ (t << 1));
  state->d += 362437u;
  return v[4] + state->d;
}

/* The registers moved as the table says, once for every digit of n that is not 0. */
NUNA_RANDOM void __nuna_xorwow_jump(curandStateXORWOW_t* state, unsigned long long n,
                                    const unsigned (*table)[15][5]) {
  const unsigned int d = state->d;
  for (int place = 0; n != 0; ++place, n >>= 4) {
    if ((n & 15u) == 0) continue;
    const unsigned* polynomial = table[place][(n & 15u) - 1u];
    unsigned int sum[5] = {0, 0, 0, 0, 0};
    for (int bit = 0; bit < 160; ++bit) {
      const unsigned take = 0u - (polynomial[bit >> 5] >> (bit & 31) & 1u);
      for (int i = 0; i < 5; ++i) sum[i] ^= state->v[i] & take;
      (void)curand(state);
    }
    for (int i = 0; i < 5; ++i) state->v[i] = sum[i];
  }
  state->d = d;
}
NUNA_RANDOM void skipahead(unsigned long long n, curandStateXORWOW_t* state) {
  if (n < 160) {
    for (; n > 0; --n) (void)curand(state);
    return;
  }
  __nuna_xorwow_jump(state, n, __nuna_xorwow_offsets);
  state->d += 362437u * (unsigned int)n;
}
/* 2^67 steps leave d as it is. */
NUNA_RANDOM void skipahead_sequence(unsigned long long n, curandStateXORWOW_t* state) {
  __nuna_xorwow_jump(state, n, __nuna_xorwow_sequences);
}

NUNA_RANDOM void curand_init(unsigned long long seed, unsigned long long subsequence,
                             unsigned long long offset, curandStateXORWOW_t* state) {
  const unsigned int s0 = (unsigned int)seed ^ 0xaad26b49u;
  const unsigned int s1 = (unsigned int)(seed >> 32) ^ 0xf7dcefddu;
  const unsigned int t0 = 1099087573u * s0;
  const unsigned int t1 = 2591861531u * s1;
  state->d = 6615241u + t1 + t0;
  state->v[0] = 123456789u + t0;
  state->v[1] = 362436069u ^ t0;
  state->v[2] = 521288629u + t1;
  state->v[3] = 88675123u ^ t1;
  state->v[4] = 5783321u + t0;
  skipahead_sequence(subsequence, state);
  skipahead(offset, state);
  state->boxmuller_flag = state->boxmuller_flag_double = 0;
  state->boxmuller_extra = 0.0f;
  state->boxmuller_extra_double = 0.0;
}

#undef NUNA_RANDOM
