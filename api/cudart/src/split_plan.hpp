#pragma once
// Whether the blocks of a launch can be shared out, along which axis, and what each share touches. Of a signature: a kernel, the sizes of
// its grid and blocks, and the numbers that decide what it touches (access/launch_form.hpp). Bytes are those of the launch that it is made for.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "access/kernel_model.hpp"
#include "access/polyhedral.hpp"

namespace nuna::cudart {

/// One thread at a time.
class SplitPlan {
 public:
  SplitPlan(const access::KernelModel& model, const access::LaunchNumbers& numbers, int parts);

  /// Why it is not shared out. What it touches is told all the same, for one device that runs all of it.
  const std::optional<std::string>& reason() const { return reason_; }
  /// The axis that is cut: 0 is x.
  int axis() const { return axis_; }

  bool reads(std::uint32_t pointer) const { return access_.reads(pointer); }
  bool writes(std::uint32_t pointer) const { return access_.writes(pointer); }
  /// Whether everything in written() is. Not if it is a span with gaps, which are brought first and come back as they were (D8).
  bool writes_all(std::uint32_t pointer) const {
    return !reason_ && !spans_[pointer] && access_.writes_all(pointer);
  }
  const access::Footprint& read(std::uint32_t pointer, const access::BlockBox& box);
  const access::Footprint& written(std::uint32_t pointer, const access::BlockBox& box);

 private:
  using Key = std::tuple<std::uint32_t, std::array<Index, 6>>;
  using Footprints = std::map<Key, access::Footprint>;

  std::optional<std::string> refusal(const access::KernelModel& model, int parts);
  std::optional<std::string> choose_axis(const access::KernelModel& model, int parts);
  using Touched = const access::Footprint& (SplitPlan::*)(std::uint32_t, const access::BlockBox&);
  static void join_rows(const std::vector<bool>& of_pointers, Footprints& footprints);
  bool spans_pay(std::uint32_t pointer, int parts, Touched touched);
  double traffic(const access::KernelModel& model, int axis, int parts);
  access::BlockBox part_of(int axis, int parts, int part) const;

  const std::array<Index, 3> grid_;
  access::LaunchAccess access_;
  std::optional<std::string> reason_;
  int axis_ = 0;
  std::vector<bool> spans_;  ///< of pointers whose rows each part writes as one
  std::vector<bool> read_spans_;
  Footprints read_;
  Footprints written_;
};

/// "reason (file:line)".
std::string text_of(const access::Refusal& refusal);

}  // namespace nuna::cudart
