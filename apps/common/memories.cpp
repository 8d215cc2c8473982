#include "common/memories.hpp"

namespace apps {

std::string name_of(const nuna::topology::Machine& machine, const nuna::topology::MemoryId& memory) {
  const std::string rank = machine.ranks.size() > 1 ? "rank " + std::to_string(memory.rank.value) + " " : "";
  if (memory.place == nuna::base::kHostPlace) return rank + "host";
  const nuna::topology::Device* device = nuna::topology::find_device(machine, memory);
  return rank + (device == nullptr ? "place " + std::to_string(memory.place.value) : device->name);
}

std::vector<nuna::route::Ends> all_pairs(const nuna::topology::Machine& machine) {
  std::vector<nuna::route::Ends> pairs;
  for (const auto& from : machine.memories) {
    for (const auto& to : machine.memories) {
      if (from.id() != to.id()) pairs.push_back({from.id(), to.id()});
    }
  }
  return pairs;
}

}  // namespace apps
