#pragma once
/* inclusive_scan and exclusive_scan, in the order of ranks. The first of an exclusive scan is T(). */

#include "cooperative_groups.h"

#ifdef NUNA_CUDA_MODE
#include "nuna/device/groups_fold.h"

namespace cooperative_groups {

template <class Group, class T, class Op>
NUNA_GROUP T inclusive_scan(const Group& group, T value, Op&& op) {
  const unsigned own = __nuna_sreg(12);
  T result = value;
  details::fold(group._mask(), value, [&](const T& other, unsigned lane, bool first) {
    if (lane <= own) result = first ? other : static_cast<T>(op(result, other));
  });
  return result;
}
template <class Group, class T>
NUNA_GROUP T inclusive_scan(const Group& group, T value) {
  return inclusive_scan(group, value, plus<T>());
}
template <class Group, class T, class Op>
NUNA_GROUP T exclusive_scan(const Group& group, T value, Op&& op) {
  const unsigned own = __nuna_sreg(12);
  T result = T();
  details::fold(group._mask(), value, [&](const T& other, unsigned lane, bool first) {
    if (lane < own) result = first ? other : static_cast<T>(op(result, other));
  });
  return result;
}
template <class Group, class T>
NUNA_GROUP T exclusive_scan(const Group& group, T value) {
  return exclusive_scan(group, value, plus<T>());
}

}  // namespace cooperative_groups
#endif
