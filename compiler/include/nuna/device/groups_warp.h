#pragma once
/* Groups within a warp, tiles of a fixed number of threads, and the threads of any mask; and the tiles of any size. */

#include <type_traits>
#include "nuna/device/groups_block.h"

#include "nuna/device/integer.h"

namespace cooperative_groups {

namespace details {

/* A shuffle (nuna/device/warp.h) of a value of any size among the lanes of `mask`. */
template <class Rule = __nuna_from, class T>
NUNA_GROUP T exchange(unsigned mask, const T& value, unsigned by, int width = 32) {
  using Word = typename std::conditional<sizeof(T) == 4, unsigned, unsigned long long>::type;
  constexpr unsigned kWords = (sizeof(T) + sizeof(Word) - 1) / sizeof(Word);
  Word words[kWords] = {};
  __builtin_memcpy(words, &value, sizeof(T));
  for (unsigned i = 0; i < kWords; ++i) words[i] = __nuna_exchange<Rule>(mask, words[i], by, width);
  T result;
  __builtin_memcpy((void*)&result, words, sizeof(T));
  return result;
}

/* Room for a T, which need not have a constructor without arguments. */
template <class T>
struct bytes_of {
  NUNA_GROUP void set(const T& value) { __builtin_memcpy(words, &value, sizeof(T)); }
  NUNA_GROUP const T& get() const { return *(const T*)words; }
  alignas(T) unsigned char words[sizeof(T)] = {};
};

/* Bit i of the result is the bit of `bits` where `mask` has its i-th one. */
NUNA_GROUP unsigned pack(unsigned bits, unsigned mask) {
  unsigned packed = 0;
  for (unsigned rank = 0; mask != 0; mask &= mask - 1u, ++rank) {
    if (bits & mask & (0u - mask)) packed |= 1u << rank;
  }
  return packed;
}

NUNA_GROUP unsigned aligned_lanes(unsigned size) {
  return size >= 32 ? 0xffffffffu : ((1u << size) - 1u) << (__nuna_sreg(12) & ~(size - 1u));
}

}  // namespace details

class coalesced_group : public thread_group {
 public:
  explicit NUNA_GROUP coalesced_group(unsigned mask, unsigned meta_rank = 0, unsigned meta_size = 1)
      : thread_group(mask), meta_rank_(meta_rank), meta_size_(meta_size) {}
  NUNA_GROUP void sync() const { (void)__nuna_warp_barrier(mask_, NUNA_MEET_ONLY); }
  NUNA_GROUP unsigned size() const { return (unsigned)__popc(mask_); }
  NUNA_GROUP unsigned num_threads() const { return size(); }
  NUNA_GROUP unsigned thread_rank() const { return (unsigned)__popc(details::lanes_before(mask_)); }
  NUNA_GROUP unsigned meta_group_rank() const { return meta_rank_; }
  NUNA_GROUP unsigned meta_group_size() const { return meta_size_; }

  template <class T>
  NUNA_GROUP T shfl(T value, unsigned rank) const {
    return details::exchange(mask_, value, lane_of(rank % size()));
  }
  template <class T>
  NUNA_GROUP T shfl_up(T value, unsigned delta) const {
    const unsigned rank = thread_rank();
    return details::exchange(mask_, value, lane_of(rank >= delta ? rank - delta : rank));
  }
  template <class T>
  NUNA_GROUP T shfl_down(T value, unsigned delta) const {
    const unsigned rank = thread_rank();
    return details::exchange(mask_, value, lane_of(rank + delta < size() ? rank + delta : rank));
  }
  NUNA_GROUP int any(int yes) const { return __any_sync(mask_, yes); }
  NUNA_GROUP int all(int yes) const { return __all_sync(mask_, yes); }
  NUNA_GROUP unsigned ballot(int yes) const { return details::pack(__ballot_sync(mask_, yes), mask_); }
  template <class T>
  NUNA_GROUP unsigned match_any(T value) const {
    return details::pack(__match_any_sync(mask_, value), mask_);
  }
  template <class T>
  NUNA_GROUP unsigned match_all(T value, int& same) const {
    return details::pack(__match_all_sync(mask_, value, &same), mask_);
  }

  template <class T>
  NUNA_GROUP T _from_first(const T& value) const {
    return shfl(value, 0);
  }

 private:
  NUNA_GROUP unsigned lane_of(unsigned rank) const {
    return mask_ == 0xffffffffu ? rank : __fns(mask_, 0, (int)rank + 1);
  }
  unsigned meta_rank_, meta_size_;
};
NUNA_GROUP coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

namespace details {

/* Which tile of its parent a tile is. */
struct tile_place {
  unsigned rank, number;
};
template <class Parent>
NUNA_GROUP tile_place place_in(const Parent& parent, unsigned size) {
  return {(unsigned)parent.thread_rank() / size, ((unsigned)parent.size() + size - 1) / size};
}

/* Tiles within a warp. Those of more threads: groups_tile.h. */
template <unsigned Size, bool IsWide = (Size > 32)>
class tile : public thread_group {
 public:
  explicit NUNA_GROUP tile(tile_place place) : thread_group(aligned_lanes(Size)), place_(place) {}
  NUNA_GROUP void sync() const { (void)__nuna_warp_barrier(mask_, NUNA_MEET_ONLY); }
  static NUNA_GROUP unsigned thread_rank() { return __nuna_sreg(12) & (Size - 1); }
  static constexpr __device__ unsigned size() { return Size; }
  static constexpr __device__ unsigned num_threads() { return Size; }
  NUNA_GROUP unsigned meta_group_rank() const { return place_.rank; }
  NUNA_GROUP unsigned meta_group_size() const { return place_.number; }
  NUNA_GROUP tile_place _place() const { return place_; }

  template <class T>
  NUNA_GROUP T shfl(T value, int rank) const {
    return details::exchange(mask_, value, (unsigned)rank, Size);
  }
  template <class T>
  NUNA_GROUP T shfl_up(T value, unsigned delta) const {
    return details::exchange<__nuna_from_below>(mask_, value, delta, Size);
  }
  template <class T>
  NUNA_GROUP T shfl_down(T value, unsigned delta) const {
    return details::exchange<__nuna_from_above>(mask_, value, delta, Size);
  }
  template <class T>
  NUNA_GROUP T shfl_xor(T value, unsigned bits) const {
    return details::exchange<__nuna_from_across>(mask_, value, bits, Size);
  }
  NUNA_GROUP int any(int yes) const { return __any_sync(mask_, yes); }
  NUNA_GROUP int all(int yes) const { return __all_sync(mask_, yes); }
  NUNA_GROUP unsigned ballot(int yes) const { return __ballot_sync(mask_, yes) >> first(); }
  template <class T>
  NUNA_GROUP unsigned match_any(T value) const {
    return __match_any_sync(mask_, value) >> first();
  }
  template <class T>
  NUNA_GROUP unsigned match_all(T value, int& same) const {
    return __match_all_sync(mask_, value, &same) >> first();
  }
  template <class T>
  NUNA_GROUP T _from_first(const T& value) const {
    return shfl(value, 0);
  }

 private:
  static NUNA_GROUP unsigned first() { return __nuna_sreg(12) & ~(Size - 1u); }
  tile_place place_;
};

}  // namespace details
}  // namespace cooperative_groups

#include "nuna/device/groups_tile.h"

namespace cooperative_groups {

template <unsigned Size, class Parent = void>
class thread_block_tile : public details::tile<Size> {
  static_assert(Size >= 1 && Size <= 1024 && (Size & (Size - 1)) == 0,
                "nuna: the size of a tile is a power of two, at most 1024");

 public:
  NUNA_GROUP thread_block_tile() : thread_block_tile(details::place_in(this_thread_block(), Size)) {}
  explicit NUNA_GROUP thread_block_tile(details::tile_place place) : details::tile<Size>(place) {}
  template <class Other>
  NUNA_GROUP thread_block_tile(const thread_block_tile<Size, Other>& other)
      : thread_block_tile(other._place()) {}
};

template <unsigned Size, class Parent>
NUNA_GROUP thread_block_tile<Size, Parent> tiled_partition(const Parent& parent) {
  return thread_block_tile<Size, Parent>(details::place_in(parent, Size));
}
template <unsigned Size>
NUNA_GROUP coalesced_group tiled_partition(const coalesced_group& parent) {
  const unsigned rank = parent.thread_rank();
  unsigned mask = parent._mask();
  for (unsigned skip = rank / Size * Size; skip > 0; --skip) mask &= mask - 1u;
  unsigned rest = mask;
  for (unsigned skip = 0; skip < Size; ++skip) rest &= rest - 1u;
  return coalesced_group(mask & ~rest, rank / Size, (parent.size() + Size - 1) / Size);
}
NUNA_GROUP thread_group tiled_partition(const thread_group& parent, unsigned size) {
  return thread_group(details::aligned_lanes(size) & (parent._mask() == 0 ? 0xffffffffu : parent._mask()));
}

/* The members of `parent` that have the same label. Groups are counted by their first members. */
template <class Parent, class Label>
NUNA_GROUP coalesced_group labeled_partition(const Parent& parent, Label label) {
  const unsigned mask = __match_any_sync(parent._mask(), label);
  const unsigned leader = mask & (0u - mask);
  const unsigned leaders = __ballot_sync(parent._mask(), (leader >> __nuna_sreg(12) & 1u) != 0);
  return coalesced_group(mask, (unsigned)__popc(leaders & (leader - 1u)), (unsigned)__popc(leaders));
}
template <class Parent>
NUNA_GROUP coalesced_group binary_partition(const Parent& parent, bool yes) {
  return labeled_partition(parent, (int)yes);
}

/* What `work` returns in one thread, in all of the group. */
template <class Group, class Work, class... Arguments>
NUNA_GROUP auto invoke_one_broadcast(const Group& group, Work&& work, Arguments&&... arguments)
    -> decltype(work(static_cast<Arguments&&>(arguments)...)) {
  typedef decltype(work(static_cast<Arguments&&>(arguments)...)) Result;
  details::bytes_of<Result> result;
  if (group.thread_rank() == 0) result.set(work(static_cast<Arguments&&>(arguments)...));
  return group._from_first(result).get();
}

}  // namespace cooperative_groups
