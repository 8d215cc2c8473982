#pragma once
/* Groups of whole blocks, the grid, and thread_group, which may be the block or lanes of a warp. */

#include "device_launch_parameters.h"
#include "nuna/device/standard.h"
#include "nuna/device/sync.h"
#include "nuna/device/warp.h"

namespace cooperative_groups {

#define NUNA_GROUP __device__ __forceinline__

namespace details {

NUNA_GROUP unsigned thread_rank_in_block() {
  return (__nuna_sreg(2) * __nuna_sreg(7) + __nuna_sreg(1)) * __nuna_sreg(6) + __nuna_sreg(0);
}
NUNA_GROUP unsigned threads_in_block() { return __nuna_sreg(6) * __nuna_sreg(7) * __nuna_sreg(8); }
NUNA_GROUP unsigned lanes_before(unsigned mask) { return mask & ((1u << __nuna_sreg(12)) - 1u); }
NUNA_GROUP dim3 sregs(int first) {
  return dim3(__nuna_sreg(first), __nuna_sreg(first + 1), __nuna_sreg(first + 2));
}

}  // namespace details

/* The lanes of `mask`, or the block where it is 0. */
class thread_group {
 public:
  NUNA_GROUP void sync() const {
    if (mask_ == 0) {
      __nuna_barrier();
    } else {
      (void)__nuna_warp_barrier(mask_, NUNA_MEET_ONLY);
    }
  }
  NUNA_GROUP unsigned long long size() const {
    return mask_ == 0 ? details::threads_in_block() : (unsigned)__popc(mask_);
  }
  NUNA_GROUP unsigned long long num_threads() const { return size(); }
  NUNA_GROUP unsigned long long thread_rank() const {
    return mask_ == 0 ? details::thread_rank_in_block() : (unsigned)__popc(details::lanes_before(mask_));
  }
  NUNA_GROUP bool is_valid() const { return true; }
  NUNA_GROUP unsigned _mask() const { return mask_; }

 protected:
  explicit NUNA_GROUP thread_group(unsigned mask) : mask_(mask) {}
  friend NUNA_GROUP thread_group tiled_partition(const thread_group& parent, unsigned size);
  unsigned mask_;
};

/* Tiles of more than a warp find memory of their own, so nothing is kept in it. */
template <unsigned MaxBlockSize = 1024>
struct block_tile_memory {};

class thread_block : public thread_group {
 public:
  struct arrival_token {};
  static NUNA_GROUP void sync() { __nuna_barrier(); }
  static NUNA_GROUP unsigned size() { return details::threads_in_block(); }
  static NUNA_GROUP unsigned num_threads() { return details::threads_in_block(); }
  static NUNA_GROUP unsigned thread_rank() { return details::thread_rank_in_block(); }
  static NUNA_GROUP dim3 group_index() { return details::sregs(3); }
  static NUNA_GROUP dim3 thread_index() { return details::sregs(0); }
  static NUNA_GROUP dim3 group_dim() { return details::sregs(6); }
  static NUNA_GROUP dim3 dim_threads() { return details::sregs(6); }
  static NUNA_GROUP arrival_token barrier_arrive() { return {}; }
  static NUNA_GROUP void barrier_wait(arrival_token) { __nuna_barrier(); }

 private:
  NUNA_GROUP thread_block() : thread_group(0) {}
  friend NUNA_GROUP thread_block this_thread_block();
};
NUNA_GROUP thread_block this_thread_block() { return thread_block(); }
template <unsigned MaxBlockSize>
NUNA_GROUP thread_block this_thread_block(block_tile_memory<MaxBlockSize>&) {
  return this_thread_block();
}

class grid_group {
 public:
  struct arrival_token {};
  /* The blocks of a cooperative launch run at the same time: one thread of each waits for the other blocks. */
  static NUNA_GROUP void sync() {
    if (num_blocks() == 1) {
      __nuna_barrier();
      return;
    }
    if (!__nuna_grid_is_together()) {
      if (thread_rank() == 0)
        dprintf(2,
                "nuna: a kernel synchronises a grid of %llu blocks that was not launched by "
                "cudaLaunchCooperativeKernel\n",
                num_blocks());
      __nuna_end_kernel(720); /* cudaErrorCooperativeLaunchTooLarge */
    }
    __nuna_barrier();
    unsigned* first = __nuna_block_cells() + 1;
    if (__atomic_fetch_add(first, 1u, __ATOMIC_RELAXED) == 0) __nuna_grid_barrier();
    __nuna_barrier();
    __atomic_store_n(first, 0u, __ATOMIC_RELAXED); /* nobody adds again before the next barrier */
  }
  static NUNA_GROUP arrival_token barrier_arrive() { return {}; }
  static NUNA_GROUP void barrier_wait(arrival_token) { sync(); }
  static NUNA_GROUP bool is_valid() { return num_blocks() == 1 || __nuna_grid_is_together(); }
  static NUNA_GROUP unsigned long long num_blocks() {
    return (unsigned long long)__nuna_sreg(9) * __nuna_sreg(10) * __nuna_sreg(11);
  }
  static NUNA_GROUP unsigned long long block_rank() {
    return ((unsigned long long)__nuna_sreg(5) * __nuna_sreg(10) + __nuna_sreg(4)) * __nuna_sreg(9) +
           __nuna_sreg(3);
  }
  static NUNA_GROUP unsigned long long size() { return num_blocks() * details::threads_in_block(); }
  static NUNA_GROUP unsigned long long num_threads() { return size(); }
  static NUNA_GROUP unsigned long long thread_rank() {
    return block_rank() * details::threads_in_block() + details::thread_rank_in_block();
  }
  static NUNA_GROUP dim3 dim_blocks() { return details::sregs(9); }
  static NUNA_GROUP dim3 group_dim() { return details::sregs(9); }
  static NUNA_GROUP dim3 block_index() { return details::sregs(3); }
};
NUNA_GROUP grid_group this_grid() { return grid_group(); }

template <class Group>
NUNA_GROUP void sync(const Group& group) {
  group.sync();
}
template <class Group>
NUNA_GROUP auto thread_rank(const Group& group) -> decltype(group.thread_rank()) {
  return group.thread_rank();
}
template <class Group>
NUNA_GROUP auto group_size(const Group& group) -> decltype(group.size()) {
  return group.size();
}
template <class Group, class Work, class... Arguments>
NUNA_GROUP void invoke_one(const Group& group, Work&& work, Arguments&&... arguments) {
  if (group.thread_rank() == 0) work(static_cast<Arguments&&>(arguments)...);
}

}  // namespace cooperative_groups
