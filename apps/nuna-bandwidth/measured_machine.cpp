#include "nuna-bandwidth/measured_machine.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "base/units.hpp"

namespace nuna_bandwidth {
namespace {

using namespace nuna::topology;
using nuna::base::kHostPlace;
using nuna::base::kPicosecondsPerSecond;
using nuna::route::Ends;

// Three significant digits: the rest is noise.
std::int64_t rounded(double value) {
  if (value < 1.0) return 0;
  const double unit = std::pow(10.0, std::max(0.0, std::floor(std::log10(value)) - 2.0));
  return static_cast<std::int64_t>(std::llround(value / unit) * std::llround(unit));
}

// The rows of one pair and scheme, one way, by size: seconds.
using Times = std::map<nuna::Index, double>;

Times times_of(const std::vector<Row>& rows, const Ends& ends, Scheme scheme) {
  Times times;
  for (const Row& row : rows) {
    if (row.experiment.ends != ends || row.experiment.two_way) continue;
    if (const Cell* cell = row.find(scheme); cell != nullptr && cell->seconds.median > 0.0)
      times[row.bytes] = cell->seconds.median;
  }
  return times;
}

// Small messages stay in caches: so what their bytes take is counted by the best rate of any size.
std::optional<Speed> speed_of(const Times& times) {
  if (times.empty()) return std::nullopt;
  const auto& [largest, longest_s] = *times.rbegin();
  const auto& [smallest, shortest_s] = *times.begin();
  double best_rate = 0.0;
  for (const auto& [bytes, time_s] : times)
    best_rate = std::max(best_rate, static_cast<double>(bytes) / time_s);
  const double latency_s = std::max(0.0, shortest_s - static_cast<double>(smallest) / best_rate);
  return Speed{std::max<std::int64_t>(1, rounded(static_cast<double>(largest) / longest_s)),
               rounded(latency_s * static_cast<double>(kPicosecondsPerSecond))};
}

std::int64_t copy_latency_ps(const Machine& machine, const Link& link) {
  std::int64_t latency_ps = 0;
  for (const MemoryId& memory : {link.from, link.to}) {
    if (const Device* device = find_device(machine, memory))
      latency_ps = std::max(latency_ps, device->copy_latency_ps);
  }
  return latency_ps;
}

// The route model adds a device's fixed cost to a link's latency.
void set_links(Machine& machine, const std::vector<Row>& rows) {
  for (Link& link : machine.links) {
    if (link.from.rank != link.to.rank) continue;
    const nuna::base::RankId first{0};
    auto speed = speed_of(times_of(rows, {link.from, link.to}, Scheme::direct));
    if (!speed)
      speed = speed_of(times_of(rows, {{first, link.from.place}, {first, link.to.place}}, Scheme::direct));
    if (!speed) continue;
    link.bytes_per_second = speed->bytes_per_second;
    link.latency_ps = std::max<std::int64_t>(0, speed->latency_ps - copy_latency_ps(machine, link));
  }
}

void set_copies(Machine& machine, const std::vector<std::int64_t>& copies) {
  for (Memory& memory : machine.memories) {
    const auto place = static_cast<std::size_t>(memory.place.value);
    if (place < copies.size() && copies[place] > 0)
      memory.copy_bytes_per_second = std::max<std::int64_t>(1, rounded(static_cast<double>(copies[place])));
  }
}

void set_messages(Machine& machine, const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    const auto& [from, to] = row.experiment.ends;
    if (from.rank == to.rank || from.place != kHostPlace || to.place != kHostPlace) continue;
    const auto speed = speed_of(times_of(rows, row.experiment.ends, Scheme::mpi));
    if (!speed) continue;
    if (same_node(machine, from.rank, to.rank)) {
      const int node = machine.ranks[static_cast<std::size_t>(from.rank.value)].node;
      machine.nodes[static_cast<std::size_t>(node)].between_ranks = speed;
    } else {
      machine.between_nodes = speed;
    }
  }
}

}  // namespace

Machine measured_machine(Machine machine, const std::vector<Row>& rows,
                         const std::vector<std::int64_t>& copies, const std::string& source) {
  machine.name += " (measured)";
  machine.source = source;
  set_copies(machine, copies);
  set_links(machine, rows);
  set_messages(machine, rows);
  return machine;
}

}  // namespace nuna_bandwidth
