#pragma once
// CUDA's names for reference.hpp, written from their definitions and without a thought of speed.

#define __global__
#define __device__
#define __host__
#define __constant__ static const
#define __shared__ static
#define __noinline__ __attribute__((noinline))
#define __forceinline__ inline
#define threadIdx (reference::running->thread)
#define blockIdx (reference::block_index)
#define blockDim (reference::block_size)
#define gridDim (reference::grid_size)
#define DYNAMIC_SHARED(name) unsigned char* const name = reference::dynamic_shared
#define LAUNCH(kernel, launch, ...)                                                     \
  do {                                                                                  \
    const auto given = std::make_tuple(__VA_ARGS__);                                    \
    reference::run((launch).grid, (launch).block, [&] { std::apply(&kernel, given); }); \
  } while (false)

#include <tuple>

// --- the block ---

inline void __syncthreads() { reference::meet_block(0); }
inline int __syncthreads_count(int yes) {
  return static_cast<int>(reference::meet_block(yes != 0).values[0]);
}
inline int __syncthreads_or(int yes) { return __syncthreads_count(yes) != 0; }
inline int __syncthreads_and(int yes) { return __syncthreads_count(yes == 0) == 0; }

// --- the warp ---

inline void __syncwarp(unsigned mask) { reference::meet_warp(mask, 0); }

/// What lane `source` brought, or the own value where that lane is not there.
template <class T>
T exchange(unsigned mask, T value, unsigned source) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  const reference::Fiber& met = reference::meet_warp(mask, bits);
  if (met.present >> source & 1u) std::memcpy(&value, &met.values[source], sizeof value);
  return value;
}

template <class T>
T __shfl_sync(unsigned mask, T value, int from, int width = 32) {
  const int lane = static_cast<int>(reference::running->lane);
  const int segment = lane / width * width;
  return exchange(mask, value, static_cast<unsigned>(segment + (from & (width - 1))));
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  const int lane = static_cast<int>(reference::running->lane);
  const int source = lane - static_cast<int>(delta);
  return exchange(mask, value, static_cast<unsigned>(source < lane / width * width ? lane : source));
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  const int lane = static_cast<int>(reference::running->lane);
  const int source = lane + static_cast<int>(delta);
  return exchange(mask, value, static_cast<unsigned>(source >= lane / width * width + width ? lane : source));
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32) {
  const int lane = static_cast<int>(reference::running->lane);
  const int source = lane ^ bits;  // may lie in an earlier segment, not in a later one
  return exchange(mask, value, static_cast<unsigned>(source >= lane / width * width + width ? lane : source));
}

inline unsigned __ballot_sync(unsigned mask, int yes) {
  const reference::Fiber& met = reference::meet_warp(mask, yes != 0);
  unsigned bits = 0;
  for (unsigned lane = 0; lane < 32; ++lane) bits |= static_cast<unsigned>(met.values[lane]) << lane;
  return bits;
}
inline int __any_sync(unsigned mask, int yes) { return __ballot_sync(mask, yes) != 0; }
inline int __all_sync(unsigned mask, int yes) { return __ballot_sync(mask, yes == 0) == 0; }

template <class Combine>
unsigned reduce(unsigned mask, unsigned value, Combine combine) {
  const reference::Fiber& met = reference::meet_warp(mask, value);
  bool first = true;
  unsigned result = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((met.present >> lane & 1u) == 0) continue;
    const unsigned other = static_cast<unsigned>(met.values[lane]);
    result = first ? other : combine(result, other);
    first = false;
  }
  return result;
}
inline unsigned __reduce_add_sync(unsigned m, unsigned v) {
  return reduce(m, v, [](unsigned a, unsigned b) { return a + b; });
}
inline unsigned __reduce_xor_sync(unsigned m, unsigned v) {
  return reduce(m, v, [](unsigned a, unsigned b) { return a ^ b; });
}
inline unsigned __reduce_or_sync(unsigned m, unsigned v) {
  return reduce(m, v, [](unsigned a, unsigned b) { return a | b; });
}
inline unsigned __reduce_min_sync(unsigned m, unsigned v) {
  return reduce(m, v, [](unsigned a, unsigned b) { return a < b ? a : b; });
}
inline unsigned __reduce_max_sync(unsigned m, unsigned v) {
  return reduce(m, v, [](unsigned a, unsigned b) { return a > b ? a : b; });
}
inline unsigned __match_any_sync(unsigned mask, unsigned value) {
  const reference::Fiber& met = reference::meet_warp(mask, value);
  unsigned bits = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((met.present >> lane & 1u) != 0 && met.values[lane] == value) bits |= 1u << lane;
  }
  return bits;
}

// --- atomics: fibers do not interrupt each other ---

template <class T, class Change>
T change(T* cell, Change to) {
  const T old = *cell;
  *cell = to(old);
  return old;
}
inline unsigned atomicAdd(unsigned* c, unsigned v) {
  return change(c, [=](unsigned o) { return o + v; });
}
inline unsigned long long atomicAdd(unsigned long long* c, unsigned long long v) {
  return change(c, [=](unsigned long long o) { return o + v; });
}
inline float atomicAdd(float* c, float v) {
  return change(c, [=](float o) { return o + v; });
}
inline unsigned atomicSub(unsigned* c, unsigned v) {
  return change(c, [=](unsigned o) { return o - v; });
}
inline unsigned atomicXor(unsigned* c, unsigned v) {
  return change(c, [=](unsigned o) { return o ^ v; });
}
inline unsigned atomicOr(unsigned* c, unsigned v) {
  return change(c, [=](unsigned o) { return o | v; });
}
inline unsigned atomicMax(unsigned* c, unsigned v) {
  return change(c, [=](unsigned o) { return o > v ? o : v; });
}
inline unsigned atomicMin(unsigned* c, unsigned v) {
  return change(c, [=](unsigned o) { return o < v ? o : v; });
}
inline unsigned atomicCAS(unsigned* c, unsigned expected, unsigned v) {
  return change(c, [=](unsigned o) { return o == expected ? v : o; });
}

// --- numbers ---

inline unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }
inline unsigned max(unsigned a, unsigned b) { return a > b ? a : b; }
inline int min(int a, int b) { return a < b ? a : b; }
inline int max(int a, int b) { return a > b ? a : b; }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __clz(unsigned x) { return x == 0 ? 32 : __builtin_clz(x); }
inline unsigned __brev(unsigned x) {
  unsigned r = 0;
  for (unsigned i = 0; i < 32; ++i) r |= (x >> i & 1u) << (31 - i);
  return r;
}
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<std::uint64_t>(a) * b >> 32);
}
