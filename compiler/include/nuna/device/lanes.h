#pragma once
/* CUDA's SIMD in a word: two halves or four bytes at once. Every function is its expression of a and b, lane by lane. */

#include "nuna/device/intrinsics.h"

template <class Lane>
NUNA_DEVICE Lane __nuna_lane_of(unsigned word, unsigned index) {
  return (Lane)(word >> index * 8 * sizeof(Lane));
}
template <class Lane>
NUNA_DEVICE unsigned __nuna_lane_put(int value, unsigned index) {
  const unsigned mask = sizeof(Lane) == 1 ? 0xffu : 0xffffu;
  return ((unsigned)value & mask) << index * 8 * sizeof(Lane);
}
template <class Lane>
NUNA_DEVICE int __nuna_lane_clamp(int value) {
  const int low = (Lane)-1 < 0 ? -(1 << (8 * sizeof(Lane) - 1)) : 0;
  const int high = low + (1 << 8 * sizeof(Lane)) - 1;
  return value < low ? low : value > high ? high : value;
}

#define NUNA_LANES(name, Lane, expression)                                      \
  NUNA_DEVICE unsigned name(unsigned x, unsigned y) {                           \
    unsigned result = 0;                                                        \
    for (unsigned i = 0; i < 4 / sizeof(Lane); ++i) {                           \
      const int a = __nuna_lane_of<Lane>(x, i), b = __nuna_lane_of<Lane>(y, i); \
      result |= __nuna_lane_put<Lane>(expression, i);                           \
    }                                                                           \
    return result;                                                              \
  }
#define NUNA_LANES_1(name, Lane, expression)          \
  NUNA_DEVICE unsigned name(unsigned x) {             \
    unsigned result = 0;                              \
    for (unsigned i = 0; i < 4 / sizeof(Lane); ++i) { \
      const int a = __nuna_lane_of<Lane>(x, i);       \
      result |= __nuna_lane_put<Lane>(expression, i); \
    }                                                 \
    return result;                                    \
  }
#define NUNA_LANES_SUM(name, Lane, expression)                                  \
  NUNA_DEVICE unsigned name(unsigned x, unsigned y) {                           \
    unsigned sum = 0;                                                           \
    for (unsigned i = 0; i < 4 / sizeof(Lane); ++i) {                           \
      const int a = __nuna_lane_of<Lane>(x, i), b = __nuna_lane_of<Lane>(y, i); \
      sum += (unsigned)(expression);                                            \
    }                                                                           \
    return sum;                                                                 \
  }
/* A comparison that gives a mask of ones, and one that gives 1. */
#define NUNA_LANES_COMPARE(name, count, Lane, operation)        \
  NUNA_LANES(__vcmp##name##count, Lane, a operation b ? -1 : 0) \
  NUNA_LANES(__vset##name##count, Lane, a operation b ? 1 : 0)

#define NUNA_LANES_ALL(count, Signed, Unsigned)                                    \
  NUNA_LANES(__vadd##count, Unsigned, a + b)                                       \
  NUNA_LANES(__vsub##count, Unsigned, a - b)                                       \
  NUNA_LANES(__vaddss##count, Signed, __nuna_lane_clamp<Signed>(a + b))            \
  NUNA_LANES(__vaddus##count, Unsigned, __nuna_lane_clamp<Unsigned>(a + b))        \
  NUNA_LANES(__vsubss##count, Signed, __nuna_lane_clamp<Signed>(a - b))            \
  NUNA_LANES(__vsubus##count, Unsigned, __nuna_lane_clamp<Unsigned>(a - b))        \
  NUNA_LANES(__vavgs##count, Signed, (a + b + (a + b >= 0)) >> 1)                  \
  NUNA_LANES(__vavgu##count, Unsigned, (a + b + 1) >> 1)                           \
  NUNA_LANES(__vhaddu##count, Unsigned, (a + b) >> 1)                              \
  NUNA_LANES(__vmaxs##count, Signed, a > b ? a : b)                                \
  NUNA_LANES(__vmaxu##count, Unsigned, a > b ? a : b)                              \
  NUNA_LANES(__vmins##count, Signed, a < b ? a : b)                                \
  NUNA_LANES(__vminu##count, Unsigned, a < b ? a : b)                              \
  NUNA_LANES(__vabsdiffs##count, Signed, a > b ? a - b : b - a)                    \
  NUNA_LANES(__vabsdiffu##count, Unsigned, a > b ? a - b : b - a)                  \
  NUNA_LANES_1(__vabs##count, Signed, a < 0 ? -a : a)                              \
  NUNA_LANES_1(__vabsss##count, Signed, __nuna_lane_clamp<Signed>(a < 0 ? -a : a)) \
  NUNA_LANES_1(__vneg##count, Signed, -a)                                          \
  NUNA_LANES_1(__vnegss##count, Signed, __nuna_lane_clamp<Signed>(-a))             \
  NUNA_LANES_SUM(__vsads##count, Signed, a > b ? a - b : b - a)                    \
  NUNA_LANES_SUM(__vsadu##count, Unsigned, a > b ? a - b : b - a)                  \
  NUNA_LANES_COMPARE(eq, count, Unsigned, ==)                                      \
  NUNA_LANES_COMPARE(ne, count, Unsigned, !=)                                      \
  NUNA_LANES_COMPARE(ges, count, Signed, >=)                                       \
  NUNA_LANES_COMPARE(geu, count, Unsigned, >=)                                     \
  NUNA_LANES_COMPARE(gts, count, Signed, >)                                        \
  NUNA_LANES_COMPARE(gtu, count, Unsigned, >)                                      \
  NUNA_LANES_COMPARE(les, count, Signed, <=)                                       \
  NUNA_LANES_COMPARE(leu, count, Unsigned, <=)                                     \
  NUNA_LANES_COMPARE(lts, count, Signed, <)                                        \
  NUNA_LANES_COMPARE(ltu, count, Unsigned, <)

NUNA_LANES_ALL(2, short, unsigned short)
NUNA_LANES_ALL(4, signed char, unsigned char)

#undef NUNA_LANES_ALL
#undef NUNA_LANES_COMPARE
#undef NUNA_LANES_SUM
#undef NUNA_LANES_1
#undef NUNA_LANES
