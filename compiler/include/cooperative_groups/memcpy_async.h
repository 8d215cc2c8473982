#pragma once
/* memcpy_async copies at once, every thread its share; wait is the group's barrier. */

#include "cooperative_groups.h"

#ifdef NUNA_CUDA_MODE

namespace cooperative_groups {

template <class Group>
NUNA_GROUP void memcpy_async(const Group& group, void* to, const void* from, size_t bytes) {
  const size_t size = group.size();
  for (size_t i = group.thread_rank(); i < bytes; i += size) ((char*)to)[i] = ((const char*)from)[i];
}
/* `bytes`: a number, or a cuda::aligned_size_t. */
template <class Group, class T, class Bytes>
NUNA_GROUP void memcpy_async(const Group& group, T* to, const T* from, const Bytes& bytes) {
  const size_t size = group.size(), count = (size_t)bytes / sizeof(T);
  for (size_t i = group.thread_rank(); i < count; i += size) to[i] = from[i];
}
/* Numbers of elements that fit there, and that are here. */
template <class Group, class T, class ToLayout, class FromLayout>
NUNA_GROUP void memcpy_async(const Group& group, T* to, const ToLayout& room, const T* from,
                             const FromLayout& there) {
  const size_t size = group.size(), count = (size_t)room < (size_t)there ? (size_t)room : (size_t)there;
  for (size_t i = group.thread_rank(); i < count; i += size) to[i] = from[i];
}

template <class Group>
NUNA_GROUP void wait(const Group& group) {
  group.sync();
}
template <unsigned Stages, class Group>
NUNA_GROUP void wait_prior(const Group& group) {
  group.sync();
}

}  // namespace cooperative_groups
#endif
