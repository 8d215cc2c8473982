#include "topology/node_type.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nuna::topology {
namespace {

constexpr int kMostCount =
    1 << 20;  // of sockets, cores, threads: beyond any machine, and sums do not overflow

constexpr std::array<std::string_view, 11> kNodeKeys = {
    "name",  "count",         "sockets",         "cores", "memory", "copy_bandwidth",
    "ranks", "between_ranks", "between_sockets", "bus",   "device"};
constexpr std::array<std::string_view, 7> kBusKeys = {"name",    "socket",         "peers",       "bandwidth",
                                                      "latency", "peer_bandwidth", "peer_latency"};
constexpr std::array<std::string_view, 8> kDeviceKeys = {
    "name", "count", "bus", "socket", "memory", "copy_bandwidth", "threads", "copy_latency"};
constexpr std::array<std::string_view, 2> kSpeedKeys = {"bandwidth", "latency"};

struct BusType {
  Position where;
  Bus bus;  // its node is set for each node
  Speed to_host;
  Speed to_peer;
};

struct DeviceType {
  Position where;
  std::string name;                   // with its number
  std::optional<int> bus;             // of the node's buses
  std::optional<int> socket;          // none: the host memory's
  std::optional<Index> memory_bytes;  // none: it computes in the host memory
  std::int64_t copy_bytes_per_second = 0;
  int threads = 1;
  std::int64_t copy_latency_ps = 0;
};

struct NodeType {
  Section section;
  Node node;
  int count = 1;
  int ranks = 1;
  Index memory_bytes = 0;
  std::int64_t copy_bytes_per_second = 0;
  std::optional<Speed> between_sockets;
  std::vector<BusType> buses;
  std::vector<DeviceType> devices;  // one for each device, counts written out
};

/// One after the other: the slower rate, the latencies added.
Speed through(const Speed& a, const Speed& b) {
  return {std::min(a.bytes_per_second, b.bytes_per_second), a.latency_ps + b.latency_ps};
}

void read_bus(NodeType& type, const Section& section) {
  section.expect_only(kBusKeys, "[[node.bus]]");
  BusType bus{section.position(), {0, section.text("name"), 0, section.boolean("peers", true)}, {}, {}};
  bus.bus.socket = section.whole("socket", 0, type.node.sockets - 1, 0);
  bus.to_host = {section.rate("bandwidth"), section.time_ps("latency")};
  bus.to_peer = bus.to_host;
  if (section.has("peer_bandwidth")) bus.to_peer.bytes_per_second = section.rate("peer_bandwidth");
  bus.to_peer.latency_ps = section.time_ps("peer_latency", bus.to_host.latency_ps);
  for (const char* key : {"peer_bandwidth", "peer_latency"}) {
    if (!bus.bus.peers && section.has(key)) section.refuse(key, "has no meaning on a bus without peers");
  }
  const auto same = [&](const BusType& other) { return other.bus.name == bus.bus.name; };
  if (std::any_of(type.buses.begin(), type.buses.end(), same))
    section.refuse("name", "is \"" + bus.bus.name + "\", as of another bus of the node");
  type.buses.push_back(std::move(bus));
}

int find_bus(const NodeType& type, const Section& section) {
  const std::string name = section.text("bus");
  std::string known;
  for (std::size_t b = 0; b < type.buses.size(); ++b) {
    if (type.buses[b].bus.name == name) return static_cast<int>(b);
    known += (known.empty() ? "" : ", ") + type.buses[b].bus.name;
  }
  section.refuse("bus", "is \"" + name + "\", which the node does not have: expected " +
                            (known.empty() ? "a [[node.bus]] of that name" : "one of " + known));
}

void read_memory_of_device(const NodeType& type, const Section& section, DeviceType& device) {
  if (section.has("memory")) {
    device.memory_bytes = section.bytes("memory");
  } else if (device.bus) {
    section.refuse("the key \"memory\" is missing: a device on a bus has memory of its own");
  }
  device.copy_bytes_per_second = device.bus || section.has("copy_bandwidth") ? section.rate("copy_bandwidth")
                                                                             : type.copy_bytes_per_second;
  if (!device.memory_bytes && section.has("copy_bandwidth"))
    section.refuse("copy_bandwidth", "has no meaning for a device without memory of its own");
}

void read_device(NodeType& type, const Section& section, std::map<std::string, int>& numbers) {
  section.expect_only(kDeviceKeys, "[[node.device]]");
  DeviceType device;
  device.where = section.position();
  const std::string name = section.text("name");
  if (section.has("bus")) {
    device.bus = find_bus(type, section);
    device.socket = type.buses[static_cast<std::size_t>(*device.bus)].bus.socket;
  }
  if (section.has("socket")) device.socket = section.whole("socket", 0, type.node.sockets - 1);
  read_memory_of_device(type, section, device);
  device.threads = section.whole("threads", 1, kMostCount, 1);
  device.copy_latency_ps = section.time_ps("copy_latency", 0);
  const int count = section.whole("count", 1, base::kMaxPlaces * type.ranks, 1);
  if (static_cast<std::int64_t>(type.devices.size()) + count > kMostParts)
    section.refuse("count", "makes more than " + std::to_string(kMostParts) + " devices");
  for (int i = 0; i < count; ++i) {
    device.name = name + std::to_string(numbers[name]++);
    type.devices.push_back(device);
  }
}

NodeType read_node_type(const Section& section) {
  section.expect_only(kNodeKeys, "[[node]]");
  NodeType type;
  type.section = section;
  type.node = {section.text("name"), section.whole("sockets", 1, kMostCount, 1),
               section.whole("cores", 1, kMostCount), read_speed(section, "between_ranks")};
  type.count = section.whole("count", 1, kMostRanks, 1);
  type.ranks = section.whole("ranks", 1, kMostRanks, 1);
  type.memory_bytes = section.bytes("memory");
  type.copy_bytes_per_second = section.rate("copy_bandwidth");
  type.between_sockets = read_speed(section, "between_sockets");
  for (const Section& bus : section.sections("bus")) read_bus(type, bus);
  std::map<std::string, int> numbers;
  for (const Section& device : section.sections("device")) read_device(type, device, numbers);
  if (type.devices.size() % static_cast<std::size_t>(type.ranks) != 0)
    section.refuse("ranks", "is " + std::to_string(type.ranks) + ", which does not divide the node's " +
                                std::to_string(type.devices.size()) + " devices evenly");
  return type;
}

/// One node of a type, added to a draft.
class Expansion {
 public:
  Expansion(MachineDraft& draft, const NodeType& type) : draft_(draft), type_(type) {}

  void run(int number) {
    Node node = type_.node;
    if (type_.count > 1) node.name += std::to_string(number);
    node_ = draft_.add(std::move(node), type_.section.position());
    first_bus_ = static_cast<int>(draft_.machine.buses.size());
    for (const BusType& type : type_.buses) {
      Bus bus = type.bus;
      bus.node = node_;
      draft_.add(std::move(bus), type.where);
    }
    for (int r = 0; r < type_.ranks; ++r) add_rank(r);
  }

  /// How many parts a node has, at most.
  static std::int64_t parts(const NodeType& type) {
    const auto ranks = static_cast<std::int64_t>(type.ranks);
    const std::int64_t places = 1 + static_cast<std::int64_t>(type.devices.size()) / ranks;
    return 1 + static_cast<std::int64_t>(type.buses.size()) + ranks * (1 + places + places * places);
  }

 private:
  /// A place of the rank that is being added.
  struct Place {
    Memory memory;
    const DeviceType* device = nullptr;
    bool on_bus() const { return device != nullptr && device->bus.has_value(); }
  };

  void add_rank(int r) {
    const Position where = type_.section.position();
    const int cores = std::max(1, type_.node.cores / type_.ranks);
    const base::RankId rank{draft_.add(Rank{node_, cores}, where)};
    const int socket = static_cast<int>(std::int64_t{r} * type_.node.sockets / type_.ranks);
    const Memory host{
        rank, base::kHostPlace, socket, type_.memory_bytes / type_.ranks, type_.copy_bytes_per_second, true};
    draft_.add(host, where);
    std::vector<Place> places = {{host, nullptr}};
    const std::size_t each = type_.devices.size() / static_cast<std::size_t>(type_.ranks);
    for (std::size_t d = 0; d < each; ++d)
      add_device(static_cast<int>(d), type_.devices[static_cast<std::size_t>(r) * each + d], places);
    join(places);
  }

  void add_device(int number, const DeviceType& type, std::vector<Place>& places) {
    const Memory host = places.front().memory;
    Device device{host.rank,    base::DeviceId{number}, base::kHostPlace,    type.name,
                  type.threads, std::nullopt,           type.copy_latency_ps};
    if (type.bus) device.bus = first_bus_ + *type.bus;
    if (type.memory_bytes) {
      device.place = base::PlaceId{static_cast<int>(places.size())};
      places.push_back({{host.rank, device.place, type.socket.value_or(host.socket), *type.memory_bytes,
                         type.copy_bytes_per_second, !type.bus},
                        &type});
      draft_.add(places.back().memory, type.where);
    }
    draft_.add(std::move(device), type.where);
  }

  void join(const std::vector<Place>& places) {
    for (const Place& from : places) {
      for (const Place& to : places) {
        if (from.memory.id() == to.memory.id()) continue;
        const std::optional<Speed> speed = between(from, to);
        if (!speed) continue;
        const Place& younger = to.device == nullptr ? from : to;
        draft_.add(Link{from.memory.id(), to.memory.id(), speed->bytes_per_second, speed->latency_ps},
                   younger.device->where);
      }
    }
  }

  /// What a device of the one or the other can do directly. Nothing between devices that are no peers.
  std::optional<Speed> between(const Place& from, const Place& to) const {
    if (from.on_bus() && to.on_bus()) {
      const BusType& bus = bus_of(from);
      const bool peers = from.device->bus == to.device->bus && bus.bus.peers;
      return peers ? std::optional(bus.to_peer) : std::nullopt;
    }
    if (from.on_bus()) return across_sockets(bus_of(from).to_host, from, to);
    if (to.on_bus()) return across_sockets(bus_of(to).to_host, from, to);
    const Speed copied{std::min(from.memory.copy_bytes_per_second, to.memory.copy_bytes_per_second), 0};
    return across_sockets(copied, from, to);
  }

  Speed across_sockets(const Speed& speed, const Place& from, const Place& to) const {
    if (from.memory.socket == to.memory.socket) return speed;
    if (!type_.between_sockets)
      type_.section.refuse(
          "the key \"between_sockets\" is missing: a device is on another socket than its rank's memory, "
          "expected { bandwidth = \"12 GB/s\", latency = \"100 ns\" }");
    return through(speed, *type_.between_sockets);
  }

  const BusType& bus_of(const Place& place) const {
    return type_.buses[static_cast<std::size_t>(*place.device->bus)];
  }

  MachineDraft& draft_;
  const NodeType& type_;
  int node_ = 0;
  int first_bus_ = 0;
};

}  // namespace

std::optional<Speed> read_speed(const Section& section, std::string_view name) {
  const std::optional<Section> found = section.section(name);
  if (!found) return std::nullopt;
  found->expect_only(kSpeedKeys, name);
  return Speed{found->rate("bandwidth"), found->time_ps("latency")};
}

void add_nodes(MachineDraft& draft, const Section& section) {
  const NodeType type = read_node_type(section);
  if (draft.machine.ranks.size() +
          static_cast<std::size_t>(type.count) * static_cast<std::size_t>(type.ranks) >
      static_cast<std::size_t>(kMostRanks))
    section.refuse("describes more than " + std::to_string(kMostRanks) + " ranks: use smaller counts");
  draft.expect_room(section, type.count * Expansion::parts(type));
  Expansion expansion(draft, type);
  for (int n = 0; n < type.count; ++n) expansion.run(n);
}

}  // namespace nuna::topology
