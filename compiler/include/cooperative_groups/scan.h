#pragma once
/* inclusive_scan and exclusive_scan, in the order of ranks. The first of an exclusive scan is T(). */

#include "cooperative_groups.h"

#ifdef NUNA_CUDA_MODE
#include "nuna/device/groups_fold.h"

namespace cooperative_groups {

namespace details {

/* What comes before a thread, if anything does. */
template <class T>
struct before {
  T value;
  bool some = false;
  template <class Op>
  NUNA_GROUP void add(const T& other, Op& op) {
    value = some ? static_cast<T>(op(value, other)) : other;
    some = true;
  }
};

/* The values of the lanes of `mask` below the own one, and of all. */
template <class T, class Op>
NUNA_GROUP before<T> scan_lanes(unsigned mask, const T& value, Op& op, before<T>& all) {
  const unsigned own = __nuna_sreg(12);
  before<T> below = {value};
  fold(mask, value, [&](const T& other, unsigned lane, bool) {
    if (lane < own) below.add(other, op);
    all.add(other, op);
  });
  return below;
}

template <class Group, class T, class Op>
NUNA_GROUP before<T> scan(const Group& group, const T& value, Op& op) {
  before<T> all = {value};
  return scan_lanes(group._mask(), value, op, all);
}
template <unsigned Size, class Parent, class T, class Op>
NUNA_GROUP before<T> scan(const thread_block_tile<Size, Parent>& group, const T& value, Op& op) {
  before<T> all = {value};
  if constexpr (Size > 32) {
    const before<T> in_warp = scan_lanes(0xffffffffu, value, op, all);
    before<T> result = {value};
    group._for_warps(all.value, [&](const T& other, unsigned warp) {
      if (warp < group._warp()) result.add(other, op);
    });
    if (in_warp.some) result.add(in_warp.value, op);
    return result;
  } else {
    return scan_lanes(group._mask(), value, op, all);
  }
}

}  // namespace details

template <class Group, class T, class Op>
NUNA_GROUP T inclusive_scan(const Group& group, T value, Op&& op) {
  details::before<T> result = details::scan(group, value, op);
  result.add(value, op);
  return result.value;
}
template <class Group, class T>
NUNA_GROUP T inclusive_scan(const Group& group, T value) {
  return inclusive_scan(group, value, plus<T>());
}
template <class Group, class T, class Op>
NUNA_GROUP T exclusive_scan(const Group& group, T value, Op&& op) {
  const details::before<T> result = details::scan(group, value, op);
  return result.some ? result.value : T();
}
template <class Group, class T>
NUNA_GROUP T exclusive_scan(const Group& group, T value) {
  return exclusive_scan(group, value, plus<T>());
}

}  // namespace cooperative_groups
#endif
