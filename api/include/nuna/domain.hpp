#pragma once
// Domains and cuts: which threads a launch runs, and how they are divided over devices.

#include <array>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "nuna/box.hpp"
#include "nuna/error.hpp"

namespace nuna {
inline namespace v0 {

/// The threads of a launch: a box of global indices, cut into one contiguous part per device of every rank.
///
/// The cut divides the *frame* (by default the box itself) between blocks; a part runs the threads of the box that fall
/// into it. Launches over an interior, a face or a single point of a larger array name that array as their frame, so
/// that their threads run where the array's data is:
///
///   context.launch("wave", Domain({{4, nx - 4}, {4, ny - 4}}).within({nx, ny}), ...);
///
/// Without parts() or along(), the frame is cut along its slowest axis that has enough blocks, or along several if
/// none has; devices for which no block is left stay idle.
///
/// The builders throw Error (invalid_argument) for an axis or a number of parts that cannot be.
class Domain {
 public:
  Domain(std::initializer_list<Index> sizes) : Domain(Extents(sizes)) {}
  Domain(const Extents& extents) : box_(extents), frame_(extents) {}  // NOLINT(google-explicit-constructor)
  Domain(const Box& box) : box_(box), frame_(box) {}                  // NOLINT(google-explicit-constructor)

  /// Cut `frame` instead of the box. The box must lie inside it.
  Domain within(const Extents& frame) const {
    Domain d = *this;
    d.frame_ = Box(frame);
    return d;
  }
  /// Cut into this many parts along each axis. The product must be the number of devices of all ranks, and each
  /// axis must have as many blocks as parts (ErrorCode::too_few_blocks).
  Domain parts(int parts0, int parts1 = 1, int parts2 = 1) const {
    if (parts0 < 1 || parts1 < 1 || parts2 < 1)
      throw Error(ErrorCode::invalid_argument, "Domain::parts: an axis has at least 1 part");
    Domain d = *this;
    d.parts_ = {parts0, parts1, parts2};
    return d;
  }
  /// Cut along one axis only.
  Domain along(int axis) const {
    check_axis(axis, "Domain::along");
    Domain d = *this;
    d.along_ = axis;
    return d;
  }
  /// Sizes of the parts along `axis` relative to each other, one per part along that axis; with parts() or along().
  Domain weights(int axis, std::vector<double> relative) const {
    check_axis(axis, "Domain::weights");
    Domain d = *this;
    d.weights_.at(static_cast<std::size_t>(axis)) = std::move(relative);
    return d;
  }

  const Box& box() const { return box_; }
  const Box& frame() const { return frame_; }
  const std::array<int, kMaxDims>& parts_per_axis() const { return parts_; }  ///< all 0: chosen by Nuna
  int along_axis() const { return along_; }                                   ///< -1: not asked for
  const std::vector<double>& weights_of(int axis) const { return weights_[static_cast<std::size_t>(axis)]; }

 private:
  static void check_axis(int axis, const char* what) {
    if (axis >= 0 && axis < kMaxDims) return;
    throw Error(ErrorCode::invalid_argument,
                std::string(what) + ": there is no axis " + std::to_string(axis));
  }

  Box box_;
  Box frame_;
  std::array<int, kMaxDims> parts_{0, 0, 0};
  int along_ = -1;
  std::array<std::vector<double>, kMaxDims> weights_;
};

/// One device of a Context, by its number from 0 to ranks() * devices() - 1, counted rank by rank: for launches that run there
/// as a whole (Context::launch), and for arguments that lie there (on() in nuna/buffer.hpp).
class OnDevice {
 public:
  explicit OnDevice(int device) : device_(device) {}
  int device() const { return device_; }

 private:
  int device_;
};
inline OnDevice on(int device) { return OnDevice(device); }

}  // namespace v0
}  // namespace nuna
