#include "device/cuda/copy_form.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace nuna::device::cuda {
namespace {

bool fits(Index pitch, Index width) { return width <= pitch && pitch <= kMostPitchBytes; }

}  // namespace

std::optional<CopyForm> copy_form(const Nest& nest) {
  CopyForm form;
  form.width = nest.run;
  if (nest.axes == 0) {
    form.to_pitch = form.from_pitch = nest.run;
    form.to_rows = form.from_rows = 1;
    return form;
  }
  const Nest::Axis& rows = nest.axis[0];
  if (nest.axes > 2 || nest.run < kLeastRowBytes || !fits(rows.to, nest.run) || !fits(rows.from, nest.run))
    return std::nullopt;
  form.height = form.to_rows = form.from_rows = rows.count;
  form.to_pitch = rows.to;
  form.from_pitch = rows.from;
  if (nest.axes == 1) return form;
  const Nest::Axis& planes = nest.axis[1];
  const auto whole = [&](Index slice, Index pitch) {
    return slice % pitch == 0 && slice / pitch >= rows.count;
  };
  if (!whole(planes.to, rows.to) || !whole(planes.from, rows.from)) return std::nullopt;
  form.depth = planes.count;
  form.to_rows = planes.to / rows.to;
  form.from_rows = planes.from / rows.from;
  return form;
}

int unit_of(const Region& to, const Region& from) {
  Index common = 16;
  for (const Region* r : {&to, &from}) {
    common = std::gcd(common, static_cast<Index>(reinterpret_cast<std::uintptr_t>(r->first) % 16));
    common = std::gcd(common, r->run_bytes);
    for (std::size_t a = 0; a < 3; ++a) {
      if (r->counts[a] > 1) common = std::gcd(common, r->stride_bytes[a]);
    }
  }
  return static_cast<int>(common);
}

}  // namespace nuna::device::cuda
