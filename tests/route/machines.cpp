#include "route/machines.hpp"

#include <array>
#include <string>

#include "topology/gathered.hpp"

namespace nuna::route {
namespace {

void add_gpu(topology::Machine& machine, int rank, int gpu) {
  const int place = gpu + 1;
  const int bus = 2 * rank + gpu / 2;
  machine.memories.push_back(
      {base::RankId{rank}, base::PlaceId{place}, gpu / 2, 6000 * kMiB, 72 * kGigabyte, false});
  machine.devices.push_back({base::RankId{rank}, base::DeviceId{gpu}, base::PlaceId{place},
                             "gpu" + std::to_string(gpu), 448, bus, kMicrosecond / 2});
  const int peer = (gpu ^ 1) + 1;
  machine.links.push_back({memory(rank, 0), memory(rank, place), 6 * kGigabyte, kMicrosecond});
  machine.links.push_back({memory(rank, place), memory(rank, 0), 6 * kGigabyte, kMicrosecond});
  machine.links.push_back({memory(rank, place), memory(rank, peer), 6 * kGigabyte, kMicrosecond});
}

}  // namespace

topology::Machine hpe() {
  topology::Machine machine;
  machine.name = "hpe";
  for (int rank = 0; rank < 2; ++rank) {
    machine.nodes.push_back({"node" + std::to_string(rank), 2, 8, {}});
    machine.ranks.push_back({rank, 8});
    machine.buses.push_back({rank, "pcie0", 0, true});
    machine.buses.push_back({rank, "pcie1", 1, true});
    machine.memories.push_back({base::RankId{rank}, base::kHostPlace, 0, 24000 * kMiB, 5 * kGigabyte, true});
    for (int gpu = 0; gpu < 4; ++gpu) add_gpu(machine, rank, gpu);
  }
  machine.between_nodes = topology::Speed{3 * kGigabyte, 2 * kMicrosecond};
  return machine;
}

topology::Machine host_devices() {
  std::array<topology::RankFacts, 3> ranks;
  for (topology::RankFacts& rank : ranks) {
    topology::set_node_name(rank, "a");
    rank.devices = 2;
    rank.shares_host_memory = 0;
  }
  topology::set_node_name(ranks[2], "b");
  return topology::assemble(ranks);
}

}  // namespace nuna::route
