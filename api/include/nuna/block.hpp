#pragma once
// Kernels by block: threads that share memory and wait for each other.
//
//   struct Reverse {  // every run of 64 elements
//     using Block = nuna::Block<64>;
//     struct Shared { float tile[64]; };
//     NUNA_KERNEL void operator()(const Block& block, Shared& shared, nuna::View<float, 1> x) const {
//       block.threads([&](Block::Member t) {
//         if (t.inside()) shared.tile[t.local(0)] = x(t.global(0));
//       });  // here all threads of the block have come by
//       const int last = ...;
//       block.threads([&](Block::Member t) {
//         if (t.inside()) x(t.global(0)) = shared.tile[last - t.local(0)];
//       });
//     }
//   };
//
// On CUDA a block is a block: each thread runs the lambda once, and a barrier follows. On the host one CPU thread runs the
// block: each `threads` is a loop over its threads, which the compiler vectorises along the last axis.
//
// So what stands outside of `threads` must be the same for all threads of a block, touches neither arrays nor `shared`, and
// comes by every `threads` alike. What a thread keeps from one `threads` to the next is a PerThread, what it tells others
// lies in `shared`, which nobody initialises. Within one `threads`, threads have no order.
//
// Blocks are counted from the begin of the launch's frame, so they are the same on any number of devices. Those at the
// edges are whole: threads outside of the launch's domain run as well, and must not touch arrays (`inside`).

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "nuna/box.hpp"
#include "nuna/config.hpp"
#include "nuna/instance.hpp"
#include "nuna/kernel.hpp"

namespace nuna {
inline namespace v0 {

/// A block of Sizes... threads, the slowest axis first, as in nuna::block(...) of the launch, which says the same.
template <int... Sizes>
class Block {
  static constexpr int kDims = sizeof...(Sizes);
  static_assert(kDims >= 1 && kDims <= kMaxDims, "a nuna::Block has 1 to 3 extents");
  static_assert(((Sizes >= 1) && ...), "a nuna::Block has at least one thread along each axis");
  static_assert((Index{1} * ... * Sizes) <= 1024, "a nuna::Block has at most 1,024 threads");

 public:
  static constexpr int dims() { return kDims; }
  NUNA_HOST_DEVICE static constexpr int size() { return (1 * ... * Sizes); }
  NUNA_HOST_DEVICE static constexpr int extent(int axis) {
    constexpr int kSizes[] = {Sizes...};
    return kSizes[axis];
  }
  static constexpr Extents extents() { return {Sizes...}; }

  /// One thread of the block.
  class Member {
   public:
    /// Its index in the block along `axis`.
    NUNA_KERNEL int local(int axis) const { return local_[axis]; }
    /// Its number in the block, row by row.
    NUNA_KERNEL int index() const {
      int index = local_[0];
      for (int a = 1; a < kDims; ++a) index = index * extent(a) + local_[a];
      return index;
    }
    /// Its index in the launch, as of Thread.
    NUNA_KERNEL Index global(int axis) const { return origin_[axis] + local_[axis]; }
    template <int N = kDims>
    NUNA_KERNEL std::array<Index, N> global() const {
      static_assert(N == kDims, "a block has as many axes as its launch");
      if constexpr (N == 1) {
        return {global(0)};
      } else if constexpr (N == 2) {
        return {global(0), global(1)};
      } else {
        return {global(0), global(1), global(2)};
      }
    }
    /// Whether it belongs to the launch's domain.
    NUNA_KERNEL bool inside() const { return inside_; }

   private:
    friend class Block;
    Member() = default;
    int local_[kDims] = {};
    Index origin_[kDims] = {};
    bool inside_ = true;
  };

  /// A value of each thread, `value(member)`, for as long as the kernel runs the block.
  template <class T>
  class PerThread {
    static_assert(std::is_trivially_copyable<T>::value, "values of threads are trivially copyable");

   public:
#if defined(__CUDA_ARCH__)
    __device__ explicit PerThread(T value = T()) : value_(value) {}
    __device__ T& operator()(const Member&) { return value_; }

   private:
    T value_;
#else
    NUNA_KERNEL explicit PerThread(T value = T()) {
      for (T& v : values_) v = value;
    }
    NUNA_KERNEL T& operator()(const Member& member) { return values_[member.index()]; }

   private:
    alignas(64) T values_[(1 * ... * Sizes)];
#endif
  };

  /// The first thread's index in the launch along `axis`.
  NUNA_KERNEL Index origin(int axis) const { return origin_[axis]; }

  /// Whether all its threads belong to the launch's domain.
  NUNA_KERNEL bool whole() const { return whole_; }

  /// Runs f(member) for every thread of the block, and waits for all.
  template <class F>
  NUNA_KERNEL void threads(F&& f) const {
#if defined(__CUDA_ARCH__)
    const unsigned here[] = {threadIdx.z, threadIdx.y, threadIdx.x};
    Member member;
    for (int a = 0; a < kDims; ++a) member.local_[a] = static_cast<int>(here[kMaxDims - kDims + a]);
    place(member);
    member.inside_ = holds(member);
    f(static_cast<const Member&>(member));
    __syncthreads();
#else
    if (whole_) {
      each<true>(f);
    } else {
      each<false>(f);
    }
#endif
  }

  /// For Nuna: the block that begins at `origin`, of a launch over `domain`.
  NUNA_HOST_DEVICE Block(const std::array<Index, kMaxDims>& origin, const Box& domain) {
    for (std::size_t a = 0; a < kDims; ++a) {
      origin_[a] = origin[a];
      domain_[a] = domain.axis[a];
      whole_ =
          whole_ && domain.axis[a].contains(Interval{origin[a], origin[a] + extent(static_cast<int>(a))});
    }
  }

 private:
  NUNA_KERNEL void place(Member& member) const {
    for (int a = 0; a < kDims; ++a) member.origin_[a] = origin_[a];
  }
  NUNA_KERNEL bool holds(const Member& member) const {
    bool inside = true;
    for (int a = 0; a < kDims; ++a) inside = inside && domain_[a].contains(member.global(a));
    return inside;
  }

#if !defined(__CUDA_ARCH__)
  // As three loops, the outer ones of one round where there are fewer axes.
  template <bool Whole, class F>
  NUNA_FLATTEN NUNA_KERNEL void each(F& f) const {
    constexpr int kFast = extent(kDims - 1);
    constexpr int kMiddle = kDims > 1 ? extent(kDims > 1 ? kDims - 2 : 0) : 1;
    constexpr int kSlow = kDims > 2 ? extent(0) : 1;
    for (int i = 0; i < kSlow; ++i) {
      for (int j = 0; j < kMiddle; ++j) {
        NUNA_INDEPENDENT_ITERATIONS
        for (int k = 0; k < kFast; ++k) {
          Member member;
          member.local_[kDims - 1] = k;
          if constexpr (kDims > 1) member.local_[kDims - 2] = j;
          if constexpr (kDims > 2) member.local_[0] = i;
          place(member);
          if constexpr (!Whole) member.inside_ = holds(member);
          f(static_cast<const Member&>(member));
        }
      }
    }
  }
#endif

  Index origin_[kDims] = {};
  Interval domain_[kDims];
  bool whole_ = true;
};

namespace detail {

template <class T>
struct IsBlock : std::false_type {};
template <int... Sizes>
struct IsBlock<Block<Sizes...>> : std::true_type {};

/// The kernel's Block if it is a kernel by block, else void.
template <class Kernel, class = void>
struct BlockOf {
  using type = void;
};
template <class Kernel>
struct BlockOf<Kernel, std::enable_if_t<IsBlock<typename Kernel::Block>::value>> {
  using type = typename Kernel::Block;
};

/// The kernel's Shared, or void.
template <class Kernel, class = void>
struct SharedOf {
  using type = void;
};
template <class Kernel>
struct SharedOf<Kernel, std::void_t<typename Kernel::Shared>> {
  using type = typename Kernel::Shared;
  static_assert(sizeof(type) <= 48 * 1024, "a block's Shared has at most 48 KiB");
  static_assert(std::is_trivially_default_constructible<type>::value &&
                    std::is_trivially_destructible<type>::value,
                "a block's Shared has no constructor and no destructor: nobody initialises it");
};

/// Runs one block. Not inlined and with arguments copied as in run_rows; with all that it calls inlined, so that the loops
/// over threads see what the lambdas in them do.
template <class Kernel, class... Arguments>
NUNA_FLATTEN __attribute__((noinline)) void run_block(const std::array<Index, kMaxDims>& origin,
                                                      const Box& domain, const Kernel& shared_kernel,
                                                      const Arguments&... shared_arguments) {
  const typename Kernel::Block block(origin, domain);
  using Shared = typename SharedOf<Kernel>::type;
  const auto run = [&](HeldKernel<Kernel> kernel, const Arguments... arguments)
                       __attribute__((always_inline)) {
                         if constexpr (std::is_void<Shared>::value) {
                           kernel(block, arguments...);
                         } else {
                           alignas(64) Shared shared;
                           kernel(block, shared, arguments...);
                         }
                       };
  run(shared_kernel, shared_arguments...);
}

/// Runs all blocks that meet `threads`.
template <class Kernel, class... Arguments>
inline void run_blocks(const Box& threads, const BlockGrid& blocks, const Kernel& kernel,
                       const Arguments&... arguments) {
  const Interval b0 = blocks.meeting(0, threads.axis[0]);
  const Interval b1 = blocks.meeting(1, threads.axis[1]);
  const Interval b2 = blocks.meeting(2, threads.axis[2]);
  for (Index i = b0.begin; i < b0.end; ++i) {
    for (Index j = b1.begin; j < b1.end; ++j) {
      for (Index k = b2.begin; k < b2.end; ++k) {
        run_block<Kernel>({blocks.begin(0, i), blocks.begin(1, j), blocks.begin(2, k)}, threads, kernel,
                          arguments...);
      }
    }
  }
}

}  // namespace detail
}  // namespace v0
}  // namespace nuna
