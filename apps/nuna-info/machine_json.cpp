#include "nuna-info/machine_json.hpp"

#include "common/memories.hpp"

namespace nuna_info {
namespace {

using namespace nuna::topology;

Json plain(const std::optional<Speed>& speed) {
  if (!speed) return nullptr;
  return {{"bytes_per_second", speed->bytes_per_second}, {"latency_ps", speed->latency_ps}};
}

Json plain(const MemoryId& memory) { return {{"rank", memory.rank.value}, {"place", memory.place.value}}; }

Json plain(const Machine&, const Node& node) {
  return {{"name", node.name},
          {"sockets", node.sockets},
          {"cores", node.cores},
          {"between_ranks", plain(node.between_ranks)}};
}

Json plain(const Machine&, const Rank& rank) { return {{"node", rank.node}, {"cores", rank.cores}}; }

Json plain(const Machine&, const Bus& bus) {
  return {{"node", bus.node}, {"name", bus.name}, {"socket", bus.socket}, {"peers", bus.peers}};
}

Json plain(const Machine& machine, const Memory& memory) {
  return {{"rank", memory.rank.value},
          {"place", memory.place.value},
          {"name", apps::name_of(machine, memory.id())},
          {"socket", memory.socket},
          {"size_bytes", memory.size_bytes},
          {"copy_bytes_per_second", memory.copy_bytes_per_second},
          {"host_accessible", memory.host_accessible}};
}

Json plain(const Machine&, const Device& device) {
  return {{"rank", device.rank.value},
          {"device", device.device.value},
          {"place", device.place.value},
          {"name", device.name},
          {"threads", device.threads},
          {"bus", device.bus ? Json(*device.bus) : Json(nullptr)},
          {"copy_latency_ps", device.copy_latency_ps}};
}

Json plain(const Machine&, const Link& link) {
  return {{"from", plain(link.from)},
          {"to", plain(link.to)},
          {"bytes_per_second", link.bytes_per_second},
          {"latency_ps", link.latency_ps}};
}

template <class Part>
Json list(const Machine& machine, const std::vector<Part>& parts) {
  Json json = Json::array();
  for (const Part& part : parts) json.push_back(plain(machine, part));
  return json;
}

}  // namespace

Json to_json(const Machine& machine) {
  return {{"name", machine.name},
          {"source", machine.source},
          {"nodes", list(machine, machine.nodes)},
          {"ranks", list(machine, machine.ranks)},
          {"buses", list(machine, machine.buses)},
          {"memories", list(machine, machine.memories)},
          {"devices", list(machine, machine.devices)},
          {"between_nodes", plain(machine.between_nodes)},
          {"links", list(machine, machine.links)}};
}

}  // namespace nuna_info
