#pragma once
/* Integer intrinsics. */

#include "nuna/device/intrinsics.h"

NUNA_DEVICE int __clz(int x) { return x == 0 ? 32 : __builtin_clz((unsigned)x); }
NUNA_DEVICE int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll((unsigned long long)x); }
NUNA_DEVICE int __popc(unsigned x) { return __builtin_popcount(x); }
NUNA_DEVICE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
NUNA_DEVICE int __ffs(int x) { return __builtin_ffs(x); }
NUNA_DEVICE int __ffsll(long long x) { return __builtin_ffsll(x); }
NUNA_DEVICE unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
NUNA_DEVICE unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }

/* The n-th set bit (n of 1 and more: upwards from `base`; -1 and less: downwards), or -1. */
NUNA_DEVICE unsigned __fns(unsigned mask, unsigned base, int n) {
  const int step = n < 0 ? -1 : 1;
  int left = n < 0 ? -n : n;
  if (n == 0) return base < 32 && (mask >> base & 1u) ? base : 0xffffffffu;
  for (int bit = (int)base; bit >= 0 && bit < 32; bit += step)
    if ((mask >> bit & 1u) && --left == 0) return (unsigned)bit;
  return 0xffffffffu;
}

NUNA_DEVICE unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const unsigned long long bytes = (unsigned long long)y << 32 | x;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) result |= (unsigned)(bytes >> ((selector >> 4 * i & 7u) * 8) & 0xffu) << 8 * i;
  return result;
}

NUNA_DEVICE int __mulhi(int x, int y) { return (int)((long long)x * y >> 32); }
NUNA_DEVICE unsigned __umulhi(unsigned x, unsigned y) { return (unsigned)((unsigned long long)x * y >> 32); }
NUNA_DEVICE long long __mul64hi(long long x, long long y) { return (long long)((__int128)x * y >> 64); }
NUNA_DEVICE unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return (unsigned long long)((unsigned __int128)x * y >> 64);
}
NUNA_BOTH int mulhi(int x, int y) { return (int)((long long)x * y >> 32); }
NUNA_BOTH unsigned mulhi(unsigned x, unsigned y) { return (unsigned)((unsigned long long)x * y >> 32); }
NUNA_BOTH long long mul64hi(long long x, long long y) { return (long long)((__int128)x * y >> 64); }

NUNA_DEVICE int __mul24(int x, int y) {
  return (int)((unsigned)((int)((unsigned)x << 8) >> 8) * (unsigned)((int)((unsigned)y << 8) >> 8));
}
NUNA_DEVICE unsigned __umul24(unsigned x, unsigned y) { return (x & 0xffffffu) * (y & 0xffffffu); }
NUNA_DEVICE int mul24(int x, int y) { return __mul24(x, y); }
NUNA_DEVICE unsigned umul24(unsigned x, unsigned y) { return __umul24(x, y); }

NUNA_DEVICE unsigned __sad(int x, int y, unsigned z) {
  return z + (x > y ? (unsigned)x - (unsigned)y : (unsigned)y - (unsigned)x);
}
NUNA_DEVICE unsigned __usad(unsigned x, unsigned y, unsigned z) { return z + (x > y ? x - y : y - x); }
NUNA_DEVICE int __hadd(int x, int y) { return (int)(((long long)x + y) >> 1); }
NUNA_DEVICE int __rhadd(int x, int y) { return (int)(((long long)x + y + 1) >> 1); }
NUNA_DEVICE unsigned __uhadd(unsigned x, unsigned y) { return (unsigned)(((unsigned long long)x + y) >> 1); }
NUNA_DEVICE unsigned __urhadd(unsigned x, unsigned y) {
  return (unsigned)(((unsigned long long)x + y + 1) >> 1);
}

NUNA_DEVICE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return (unsigned)(((unsigned long long)high << 32 | low) << (shift & 31u) >> 32);
}
NUNA_DEVICE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return (unsigned)(((unsigned long long)high << 32 | low) >> (shift & 31u));
}
NUNA_DEVICE unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  return (unsigned)(((unsigned long long)high << 32 | low) << (shift < 32u ? shift : 32u) >> 32);
}
NUNA_DEVICE unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  return (unsigned)(((unsigned long long)high << 32 | low) >> (shift < 32u ? shift : 32u));
}

/* Dot products of bytes, and of 16-bit halves with the low or high bytes. */
#define NUNA_DP(name, word, whole, half_type, byte_type, first)                                          \
  NUNA_DEVICE word name(whole a, whole b, word c) {                                                      \
    for (int i = 0; i < 2; ++i)                                                                          \
      c += (word)(half_type)((unsigned)a >> 16 * i) * (word)(byte_type)((unsigned)b >> 8 * (i + first)); \
    return c;                                                                                            \
  }
NUNA_DP(__dp2a_lo, int, int, short, signed char, 0)
NUNA_DP(__dp2a_lo, unsigned, unsigned, unsigned short, unsigned char, 0)
NUNA_DP(__dp2a_hi, int, int, short, signed char, 2)
NUNA_DP(__dp2a_hi, unsigned, unsigned, unsigned short, unsigned char, 2)
#undef NUNA_DP
#define NUNA_DP4(word, byte_type)                                                             \
  NUNA_DEVICE word __dp4a(word a, word b, word c) {                                           \
    for (int i = 0; i < 4; ++i)                                                               \
      c += (word)(byte_type)((unsigned)a >> 8 * i) * (word)(byte_type)((unsigned)b >> 8 * i); \
    return c;                                                                                 \
  }
NUNA_DP4(int, signed char)
NUNA_DP4(unsigned, unsigned char)
#undef NUNA_DP4
