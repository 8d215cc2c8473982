#include "cluster/stall_watch.hpp"

#include "base/units.hpp"

namespace nuna::cluster {

std::string waited_text(std::chrono::nanoseconds waited) {
  constexpr std::int64_t kMost = INT64_MAX / base::kPicosecondsPerNanosecond;
  constexpr std::int64_t kSteps = 100'000'000;  // tenths of a second
  const std::int64_t ns = std::min<std::int64_t>(waited.count(), kMost);
  const std::int64_t rounded = ns < kSteps ? ns : ns / kSteps * kSteps;
  return base::print_picoseconds(rounded * base::kPicosecondsPerNanosecond);
}

}  // namespace nuna::cluster
