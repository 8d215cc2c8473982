#pragma once
/* reduce: every lane folds the values of its group in the order of their ranks, so that all get the same. */

#include "cooperative_groups.h"

#ifdef NUNA_CUDA_MODE
#include "nuna/device/groups_fold.h"

namespace cooperative_groups {

namespace details {

template <class T, class Op>
NUNA_GROUP T reduce_lanes(unsigned mask, const T& value, Op& op) {
  T result = value;
  fold(mask, value, [&](const T& other, unsigned, bool first) {
    result = first ? other : static_cast<T>(op(result, other));
  });
  return result;
}

}  // namespace details

template <class Group, class T, class Op>
NUNA_GROUP auto reduce(const Group& group, T value, Op&& op) -> decltype(op(value, value)) {
  return details::reduce_lanes(group._mask(), value, op);
}
/* Tiles of several warps. */
template <unsigned Size, class Parent, class T, class Op>
NUNA_GROUP auto reduce(const thread_block_tile<Size, Parent>& group, T value, Op&& op)
    -> decltype(op(value, value)) {
  if constexpr (Size > 32) {
    T result = value;
    bool first = true;
    group._for_warps(details::reduce_lanes(0xffffffffu, value, op), [&](const T& other, unsigned) {
      result = first ? other : static_cast<T>(op(result, other));
      first = false;
    });
    return result;
  } else {
    return details::reduce_lanes(group._mask(), value, op);
  }
}

template <class Group, class T, class Op>
NUNA_GROUP void reduce_update_async(const Group& group, T& target, T value, Op&& op) {
  const T all = reduce(group, value, op);
  if (group.thread_rank() == 0) target = op(target, all);
}
template <class Group, class T, class Op>
NUNA_GROUP void reduce_store_async(const Group& group, T* target, T value, Op&& op) {
  const T all = reduce(group, value, op);
  if (group.thread_rank() == 0) *target = all;
}

}  // namespace cooperative_groups
#endif
