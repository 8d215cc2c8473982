#pragma once
// Declared access: which elements of a buffer the threads of a partition touch.
//
// An AccessMap goes from a box of threads (a partition of a launch, or a part of one) to boxes of elements. The
// builders below cover one to one, halo, rows, columns, tiles, permutations and the whole buffer; they are *monotone* (per
// buffer axis, later parts touch later elements), which lets the planner find neighbours by binary search. Any
// other shape is a user's function.
//
// Values: copyable, safe to share between threads. A user's function is called from the thread that launches,
// for the parts of every rank and for pieces of the calling rank's own, which run while bytes for the others travel; it
// must return the same boxes for the same threads on every rank.

#include <array>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "nuna/box.hpp"
#include "nuna/config.hpp"
#include "nuna/error.hpp"
#include "nuna/instance.hpp"

namespace nuna {
inline namespace v0 {

/// How one buffer axis follows the launch: thread t of launch axis `from` touches elements
/// [t * tile + offset - before, t * tile + offset + tile + after). `before` and `after` (the halo) are clipped at
/// the buffer's faces; the rest must lie inside the buffer. `from == kAll`: the whole axis, whatever the thread.
/// `from == kFixed`: the elements [offset, offset + tile), whatever the thread.
struct AxisRule {
  static constexpr int kAll = -1;
  static constexpr int kFixed = -2;
  int from = kAll;
  Index tile = 1;
  Index offset = 0;
  Index before = 0;
  Index after = 0;

  friend constexpr bool operator==(const AxisRule& a, const AxisRule& b) {
    return a.from == b.from && a.tile == b.tile && a.offset == b.offset && a.before == b.before &&
           a.after == b.after;
  }
};

/// A part of a launch, as access functions and kernels by part are given it: its blocks, counted from the frame's begin, and
/// the threads in them (clipped to the domain). Where it runs is known only in a kernel.
struct Part {
  Box blocks;
  Box threads;
  detail::PartPlace place;

  const Box& box() const { return threads; }
  bool on_cuda() const { return place.cuda_device >= 0; }
  int cuda_device() const { return place.cuda_device; }  ///< as the CUDA runtime counts; -1: the host
  /// The stream to which the kernel's work is to be given, `part.stream<cudaStream_t>()`; null on the host.
  template <class Stream>
  Stream stream() const {
    return static_cast<Stream>(place.stream);
  }
};

class AccessMap {
 public:
  using Function = std::function<void(const Part& part, std::vector<Box>& elements)>;

  /// One rule per buffer axis. `axes`: how many the buffer must have; 0: any number, rules beyond are unused.
  constexpr explicit AccessMap(std::array<AxisRule, kMaxDims> rules, int axes = 0)
      : rules_(rules), axes_(axes) {}

  /// A user's function. `identity` tells equal functions apart in caches: two maps with the same non-null
  /// identity are taken to be the same function.
  AccessMap(Function function, const void* identity)
      : function_(std::make_shared<const Function>(std::move(function))),
        identity_(identity != nullptr ? identity : function_.get()) {}

  bool is_monotone() const { return function_ == nullptr; }
  const AxisRule& rule(int axis) const { return rules_[static_cast<std::size_t>(axis)]; }
  int axes() const { return axes_; }
  const Function& function() const { return *function_; }
  const void* identity() const { return identity_; }

  /// The same map moved by `by` elements along each buffer axis.
  AccessMap shifted(std::initializer_list<Index> by) const {
    AccessMap moved = *this;
    std::size_t a = 0;
    for (const Index d : by) {
      if (a < moved.rules_.size()) moved.rules_[a++].offset += d;
    }
    return moved;
  }

  friend bool operator==(const AccessMap& a, const AccessMap& b) {
    return a.identity_ == b.identity_ && a.axes_ == b.axes_ && a.rules_[0] == b.rules_[0] &&
           a.rules_[1] == b.rules_[1] && a.rules_[2] == b.rules_[2];
  }

 private:
  std::array<AxisRule, kMaxDims> rules_{};
  int axes_ = 0;
  std::shared_ptr<const Function> function_;
  const void* identity_ = nullptr;
};

namespace detail {
/// Throws Error (invalid_argument): negative numbers mean something else in a rule.
inline int checked_axis(int axis) {
  if (axis >= 0) return axis;
  throw Error(ErrorCode::invalid_argument, "there is no launch axis " + std::to_string(axis));
}
}  // namespace detail

/// Thread (i, j, k) touches element (i, j, k).
inline AccessMap one_to_one() { return AccessMap({AxisRule{0}, AxisRule{1}, AxisRule{2}}); }

/// Thread (i, j, k) touches the elements within `radius` of (i, j, k) along every axis.
inline AccessMap halo(Index radius) {
  return AccessMap({AxisRule{0, 1, 0, radius, radius}, AxisRule{1, 1, 0, radius, radius},
                    AxisRule{2, 1, 0, radius, radius}});
}
/// The same with a radius per axis.
inline AccessMap halo(Index radius0, Index radius1, Index radius2 = 0) {
  return AccessMap({AxisRule{0, 1, 0, radius0, radius0}, AxisRule{1, 1, 0, radius1, radius1},
                    AxisRule{2, 1, 0, radius2, radius2}});
}

/// Every thread touches the whole buffer.
inline AccessMap whole() { return AccessMap(std::array<AxisRule, kMaxDims>{}); }

/// Thread (i, ...) touches all of row i: buffer axis 0 follows launch axis `launch_axis`, the others are whole.
inline AccessMap rows(int launch_axis = 0) {
  return AccessMap({AxisRule{detail::checked_axis(launch_axis)}, AxisRule{}, AxisRule{}});
}

/// Thread (.., j) touches all of column j: buffer axis 1 follows launch axis `launch_axis`, the others are whole.
inline AccessMap columns(int launch_axis = 1) {
  return AccessMap({AxisRule{}, AxisRule{detail::checked_axis(launch_axis)}, AxisRule{}});
}

/// Every thread touches the same box.
inline AccessMap fixed(const Box& box) {
  std::array<AxisRule, kMaxDims> rules{};
  for (std::size_t a = 0; a < rules.size(); ++a) {
    rules[a] = AxisRule{AxisRule::kFixed, box.axis[a].size(), box.axis[a].begin};
  }
  return AccessMap(rules, box.dims);
}

/// Buffer axis b follows launch axis `axes[b]` one to one: {1, 0} reads a transpose.
inline AccessMap permuted(int axis0, int axis1, int axis2 = 2) {
  return AccessMap({AxisRule{detail::checked_axis(axis0)}, AxisRule{detail::checked_axis(axis1)},
                    AxisRule{detail::checked_axis(axis2)}});
}

/// Thread (i, j, k) touches the tile [i*t0, (i+1)*t0) x [j*t1, (j+1)*t1) x [k*t2, (k+1)*t2).
inline AccessMap tiles(Index t0, Index t1 = 1, Index t2 = 1) {
  return AccessMap({AxisRule{0, t0}, AxisRule{1, t1}, AxisRule{2, t2}});
}

namespace detail {
template <class F>
struct TypeIdentity {
  static constexpr char kTag = 0;
};
}  // namespace detail

/// A function of the user's: f(const Part&, std::vector<Box>& elements) appends the boxes that the part touches.
/// Plans are cached when F is stateless (a captureless lambda); otherwise keep the AccessMap and pass it again.
template <class F>
AccessMap mapped(F f) {
  const void* identity = std::is_empty<F>::value ? &detail::TypeIdentity<F>::kTag : nullptr;
  return AccessMap(AccessMap::Function(std::move(f)), identity);
}

}  // namespace v0
}  // namespace nuna
