#pragma once
/* reduce: every lane folds the values of its group in the order of their ranks, so that all get the same. */

#include "cooperative_groups.h"

#ifdef NUNA_CUDA_MODE
#include "nuna/device/groups_fold.h"

namespace cooperative_groups {

template <class Group, class T, class Op>
NUNA_GROUP auto reduce(const Group& group, T value, Op&& op) -> decltype(op(value, value)) {
  T result = value;
  details::fold(group._mask(), value, [&](const T& other, unsigned, bool first) {
    result = first ? other : static_cast<T>(op(result, other));
  });
  return result;
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
