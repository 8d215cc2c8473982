#pragma once
/* Shuffles, votes, matches and reductions of a warp: a lane writes its value into the warp's slots, the lanes meet, each reads what it
 * needs, and they meet again before the next may write. The names without _sync take the lanes that come by together. */

#include "nuna/device/intrinsics.h"

#define NUNA_WARP NUNA_DEVICE __attribute__((convergent))

/* The lanes of `mask` that have written values of so many bytes; of 0, those that come by together. Other lanes may have met at the same
 * time. */
template <unsigned Bytes>
NUNA_WARP unsigned __nuna_meet(unsigned mask) {
  const unsigned met = __nuna_warp_barrier(mask, 2u * Bytes);
  return mask == 0 ? met : met & mask;
}
/* The same lanes have read them. The kinds of both differ, so that no lane that reads meets one that has written. */
template <unsigned Bytes>
NUNA_WARP void __nuna_part(unsigned mask) {
  (void)__nuna_warp_barrier(mask, 2u * Bytes + 1u);
}
NUNA_WARP void __syncwarp(unsigned mask = 0xffffffffu) { (void)__nuna_warp_barrier(mask, NUNA_MEET_ONLY); }
NUNA_WARP unsigned __activemask() { return __nuna_warp_barrier(0, NUNA_MEET_ONLY); }
NUNA_DEVICE unsigned __nuna_lane() { return __nuna_sreg(12); }

/* Where a warp exchanges values of one size: places of their own, as lanes apart may exchange others at the same time. Before and
 * behind each there is memory for 31 more, so that a lane may read, and drop, what it finds at a neighbour's that does not exist. */
template <class Bits>
NUNA_DEVICE Bits* __nuna_slots() {
  return (Bits*)((char*)__nuna_warp_slots() + (sizeof(Bits) == 8 ? 256 : sizeof(Bits) == 4 ? 128 : 0));
}

/* What a lane finds in another's slot. Neighbours' slots are neighbours in memory: rules read them at lane + a constant wherever they
 * can, so that a warp reads them at once. */
template <class Bits>
struct __nuna_found {
  Bits value;
  unsigned lane; /* whose it is */
  bool taken;    /* not out of the segment */
};

/* A shuffle by one of the rules below: the own value where the lane that it would read takes no part. */
template <class Rule, class Bits>
NUNA_WARP Bits __nuna_exchange(unsigned mask, Bits value, unsigned by, int width) {
  Bits* slots = __nuna_slots<Bits>();
  slots[__nuna_lane()] = value;
  const unsigned present = __nuna_meet<sizeof(Bits)>(mask);
  const __nuna_found<Bits> found = Rule::read(slots, __nuna_lane(), by, (unsigned)width - 1u);
  const Bits read = found.taken & (present >> (found.lane & 31u)) & 1u ? found.value : value;
  __nuna_part<sizeof(Bits)>(mask);
  return read;
}

/* Which lane a shuffle reads, of segments of inside + 1 lanes. */
struct __nuna_from {
  template <class Bits>
  NUNA_DEVICE __nuna_found<Bits> read(const Bits* slots, unsigned lane, unsigned by, unsigned inside) {
    const unsigned source = ((lane & ~inside) | (by & inside)) & 31u;
    return {slots[source], source, true};
  }
};
struct __nuna_from_below {
  template <class Bits>
  NUNA_DEVICE __nuna_found<Bits> read(const Bits* slots, unsigned lane, unsigned by, unsigned inside) {
    const unsigned delta = by & 31u;
    return {slots[(int)lane - (int)delta], lane - delta, (lane & inside) >= delta};
  }
};
struct __nuna_from_above {
  template <class Bits>
  NUNA_DEVICE __nuna_found<Bits> read(const Bits* slots, unsigned lane, unsigned by, unsigned inside) {
    const unsigned delta = by & 31u;
    return {slots[lane + delta], lane + delta, (lane & inside) + delta <= inside};
  }
};
struct __nuna_from_across {
  template <class Bits>
  NUNA_DEVICE __nuna_found<Bits> read(const Bits* slots, unsigned lane, unsigned by, unsigned inside) {
    const unsigned bits = by & 31u, source = lane ^ bits;
    const bool taken = source <= (lane | inside);
    if ((bits & (bits - 1u)) != 0) return {slots[source], source, taken};
    const Bits below = slots[(int)lane - (int)bits], above = slots[lane + bits];
    return {(lane & bits) != 0 ? below : above, source, taken};
  }
};

#define NUNA_SHUFFLE_ONE(name, second, type, bits, rule)                                          \
  NUNA_WARP type name##_sync(unsigned mask, type value, second by, int width = 32) {              \
    return __builtin_bit_cast(                                                                    \
        type, __nuna_exchange<rule>(mask, __builtin_bit_cast(bits, value), (unsigned)by, width)); \
  }                                                                                               \
  NUNA_WARP type name(type value, second by, int width = 32) { return name##_sync(0, value, by, width); }
/* All four for a type that fits into `bits`. */
#define NUNA_SHUFFLES(type, bits)                                        \
  NUNA_SHUFFLE_ONE(__shfl, int, type, bits, __nuna_from)                 \
  NUNA_SHUFFLE_ONE(__shfl_up, unsigned, type, bits, __nuna_from_below)   \
  NUNA_SHUFFLE_ONE(__shfl_down, unsigned, type, bits, __nuna_from_above) \
  NUNA_SHUFFLE_ONE(__shfl_xor, int, type, bits, __nuna_from_across)

NUNA_SHUFFLES(int, unsigned)
NUNA_SHUFFLES(unsigned, unsigned)
NUNA_SHUFFLES(float, unsigned)
NUNA_SHUFFLES(long, unsigned long long)
NUNA_SHUFFLES(unsigned long, unsigned long long)
NUNA_SHUFFLES(long long, unsigned long long)
NUNA_SHUFFLES(unsigned long long, unsigned long long)
NUNA_SHUFFLES(double, unsigned long long)

/* One bit a lane where its slot of 32 equals `value`, by one vector comparison. */
template <class Bits>
NUNA_DEVICE unsigned __nuna_equal_lanes(Bits value) {
  typedef Bits Lanes __attribute__((ext_vector_type(32)));
  typedef bool Mask __attribute__((ext_vector_type(32)));
  const Lanes lanes = *(const Lanes*)__nuna_slots<Bits>();
  return __builtin_bit_cast(unsigned, __builtin_convertvector(lanes == (Lanes)value, Mask));
}

struct __nuna_vote {
  unsigned yes, present;
};
NUNA_WARP __nuna_vote __nuna_ballot(unsigned mask, bool yes) {
  __nuna_slots<unsigned char>()[__nuna_lane()] = yes;
  __nuna_vote vote;
  vote.present = __nuna_meet<1>(mask);
  vote.yes = __nuna_equal_lanes<unsigned char>(1) & vote.present;
  __nuna_part<1>(mask);
  return vote;
}
NUNA_WARP unsigned __ballot_sync(unsigned mask, int yes) { return __nuna_ballot(mask, yes != 0).yes; }
NUNA_WARP int __any_sync(unsigned mask, int yes) { return __nuna_ballot(mask, yes != 0).yes != 0; }
NUNA_WARP int __all_sync(unsigned mask, int yes) {
  const __nuna_vote vote = __nuna_ballot(mask, yes != 0);
  return vote.yes == vote.present;
}
NUNA_WARP int __uni_sync(unsigned mask, int yes) {
  const __nuna_vote vote = __nuna_ballot(mask, yes != 0);
  return vote.yes == vote.present || vote.yes == 0;
}
NUNA_WARP unsigned __ballot(int yes) { return __ballot_sync(0, yes); }
NUNA_WARP int __any(int yes) { return __any_sync(0, yes); }
NUNA_WARP int __all(int yes) { return __all_sync(0, yes); }

template <class Bits>
NUNA_WARP __nuna_vote __nuna_match(unsigned mask, Bits value) {
  __nuna_slots<Bits>()[__nuna_lane()] = value;
  __nuna_vote vote;
  vote.present = __nuna_meet<sizeof(Bits)>(mask);
  vote.yes = __nuna_equal_lanes<Bits>(value) & vote.present;
  __nuna_part<sizeof(Bits)>(mask);
  return vote;
}
#define NUNA_MATCH(type, bits)                                                    \
  NUNA_WARP unsigned __match_any_sync(unsigned mask, type value) {                \
    return __nuna_match(mask, __builtin_bit_cast(bits, value)).yes;               \
  }                                                                               \
  NUNA_WARP unsigned __match_all_sync(unsigned mask, type value, int* same) {     \
    const __nuna_vote vote = __nuna_match(mask, __builtin_bit_cast(bits, value)); \
    *same = vote.yes == vote.present;                                             \
    return *same ? vote.present : 0u;                                             \
  }
NUNA_MATCH(int, unsigned)
NUNA_MATCH(unsigned, unsigned)
NUNA_MATCH(float, unsigned)
NUNA_MATCH(long, unsigned long long)
NUNA_MATCH(unsigned long, unsigned long long)
NUNA_MATCH(long long, unsigned long long)
NUNA_MATCH(unsigned long long, unsigned long long)
NUNA_MATCH(double, unsigned long long)

#define NUNA_REDUCE(name, type, start, expression)                   \
  NUNA_WARP type __reduce_##name##_sync(unsigned mask, type value) { \
    type* slots = __nuna_slots<type>();                              \
    slots[__nuna_lane()] = value;                                    \
    const unsigned present = __nuna_meet<sizeof(type)>(mask);        \
    type a = start;                                                  \
    for (unsigned lane = 0; lane < 32; ++lane) {                     \
      const type b = (present >> lane & 1u) ? slots[lane] : start;   \
      a = expression;                                                \
    }                                                                \
    __nuna_part<sizeof(type)>(mask);                                 \
    return a;                                                        \
  }
NUNA_REDUCE(add, unsigned, 0u, a + b)
NUNA_REDUCE(add, int, 0, (int)((unsigned)a + (unsigned)b))
NUNA_REDUCE(min, unsigned, 0xffffffffu, a < b ? a : b)
NUNA_REDUCE(min, int, 0x7fffffff, a < b ? a : b)
NUNA_REDUCE(max, unsigned, 0u, a > b ? a : b)
NUNA_REDUCE(max, int, (-0x7fffffff - 1), a > b ? a : b)
NUNA_REDUCE(and, unsigned, 0xffffffffu, (a & b))
NUNA_REDUCE(or, unsigned, 0u, (a | b))
NUNA_REDUCE(xor, unsigned, 0u, (a ^ b))

#undef NUNA_REDUCE
#undef NUNA_MATCH
#undef NUNA_SHUFFLES
#undef NUNA_SHUFFLE_ONE
#undef NUNA_WARP
