#pragma once
// Machines that the tests of routes use, small and with round figures.

#include <cstdint>

#include "nuna/box.hpp"
#include "route/route.hpp"
#include "topology/machine.hpp"

namespace nuna::route {

inline constexpr Index kKiB = 1024;
inline constexpr Index kMiB = 1024 * kKiB;
inline constexpr std::int64_t kGigabyte = 1'000'000'000;
inline constexpr std::int64_t kMicrosecond = 1'000'000;

constexpr topology::MemoryId memory(int rank, int place) {
  return {base::RankId{rank}, base::PlaceId{place}};
}

constexpr Ends between(const topology::MemoryId& from, const topology::MemoryId& to) { return {from, to}; }

/// Like the HPE paper's: four devices on two buses, peers on the same bus only; place p belongs to gpu(p - 1). All links
/// run at 6 GB/s, and a copy costs 1.5 us. Two such nodes of one rank each.
topology::Machine hpe();

/// Two ranks on one node and one on another, with two host devices each.
topology::Machine host_devices();

}  // namespace nuna::route
