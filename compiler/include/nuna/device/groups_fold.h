#pragma once
/* What reduce.h and scan.h share: the operators, and a walk over the values of a group. */

#include "nuna/device/groups_warp.h"

namespace cooperative_groups {

#define NUNA_OPERATOR(name, expression)                                                          \
  template <class T = void>                                                                      \
  struct name {                                                                                  \
    NUNA_GROUP T operator()(const T& a, const T& b) const { return static_cast<T>(expression); } \
  };
NUNA_OPERATOR(plus, a + b)
NUNA_OPERATOR(less, b < a ? b : a)
NUNA_OPERATOR(greater, a < b ? b : a)
NUNA_OPERATOR(bit_and, a& b)
NUNA_OPERATOR(bit_or, a | b)
NUNA_OPERATOR(bit_xor, a ^ b)
#undef NUNA_OPERATOR

namespace details {

/* visit(value, lane, is it the first) for every lane of `mask` that takes part, upwards. The slots of a warp hold 16 bytes a lane;
 * larger values come by one shuffle each. */
template <class T, class Visit>
NUNA_GROUP void fold(unsigned mask, const T& value, Visit visit) {
  bool first = true;
  if (sizeof(T) <= 16) {
    /* Behind the places of shuffles and votes, which other lanes may be at. */
    char* slots = (char*)__nuna_warp_slots() + 512;
    *(T*)(slots + 16 * __nuna_sreg(12)) = value;
    const unsigned present = __nuna_meet<16>(mask);
    for (unsigned lane = 0; lane < 32; ++lane) {
      if (!(present >> lane & 1u)) continue;
      visit(*(const T*)(slots + 16 * lane), lane, first);
      first = false;
    }
    __nuna_part<16>(mask);
    return;
  }
  const unsigned present = __nuna_meet<0>(mask);
  for (unsigned lane = 0; lane < 32; ++lane) {
    const T other = exchange(mask, value, lane);
    if (!(present >> lane & 1u)) continue;
    visit(other, lane, first);
    first = false;
  }
}

}  // namespace details
}  // namespace cooperative_groups
