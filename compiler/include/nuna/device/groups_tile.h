#pragma once
/* Tiles of several warps: 64 to 1024 threads. They meet by the block's barrier, so that all tiles of a block must come by. Included by
 * groups_warp.h. */

#include "nuna/device/groups_block.h"

namespace cooperative_groups {
namespace details {

/* A place for each warp of the block, where tiles exchange values. */
template <class T>
NUNA_GROUP T* warp_places() {
  __shared__ __align__(16) unsigned char places[32 * sizeof(T)];
  return (T*)places;
}

template <unsigned Size>
class tile<Size, true> {
 public:
  explicit NUNA_GROUP tile(tile_place place) : place_(place) {}
  static NUNA_GROUP void sync() { __nuna_barrier(); }
  static NUNA_GROUP unsigned thread_rank() { return thread_rank_in_block() & (Size - 1); }
  static constexpr __device__ unsigned size() { return Size; }
  static constexpr __device__ unsigned num_threads() { return Size; }
  NUNA_GROUP unsigned meta_group_rank() const { return place_.rank; }
  NUNA_GROUP unsigned meta_group_size() const { return place_.number; }
  NUNA_GROUP tile_place _place() const { return place_; }
  static NUNA_GROUP int any(int yes) { return votes(yes) != 0; }
  static NUNA_GROUP int all(int yes) { return votes(!yes) == 0; }

  /* visit(value) for the value of each of the tile's warps, in order; `value` is the same for all lanes of a warp. */
  template <class T, class Visit>
  static NUNA_GROUP void _for_warps(const T& value, Visit visit) {
    T* places = warp_places<T>();
    if (is_first_of_warp()) __builtin_memcpy((void*)(places + own_warp()), (const void*)&value, sizeof(T));
    __nuna_barrier();
    const unsigned warps = (threads_in_block() + 31) / 32, first = own_warp() & ~(Size / 32 - 1);
    for (unsigned i = 0; i < Size / 32 && first + i < warps; ++i) visit(places[first + i], first + i);
    __nuna_barrier();
  }
  static NUNA_GROUP unsigned _warp() { return own_warp(); }
  template <class T>
  NUNA_GROUP T _from_first(const T& value) const {
    T* places = warp_places<T>();
    const unsigned first = own_warp() & ~(Size / 32 - 1);
    if (thread_rank() == 0) __builtin_memcpy((void*)(places + first), (const void*)&value, sizeof(T));
    __nuna_barrier();
    T result = places[first];
    __nuna_barrier();
    return result;
  }

 private:
  static NUNA_GROUP unsigned own_warp() { return thread_rank_in_block() / 32; }
  static NUNA_GROUP bool is_first_of_warp() { return __nuna_sreg(12) == 0; }
  static NUNA_GROUP unsigned votes(int yes) {
    unsigned number = 0;
    _for_warps((unsigned)__popc(__ballot_sync(0xffffffffu, yes)),
               [&](unsigned count, unsigned) { number += count; });
    return number;
  }
  tile_place place_;
};

}  // namespace details
}  // namespace cooperative_groups
