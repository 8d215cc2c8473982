#include "topology/machine_file.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <system_error>

#include "nuna/error.hpp"
#include "topology/machine_draft.hpp"
#include "topology/node_type.hpp"
#include "topology/sections.hpp"

namespace nuna::topology {
namespace {

constexpr int kAnyInt = std::numeric_limits<int>::max();

constexpr std::array<std::string_view, 9> kFileKeys = {"name",   "source", "between_nodes", "node", "rank",
                                                       "memory", "bus",    "device",        "link"};
constexpr std::array<std::string_view, 4> kNodeKeys = {"name", "sockets", "cores", "between_ranks"};
constexpr std::array<std::string_view, 2> kRankKeys = {"node", "cores"};
constexpr std::array<std::string_view, 4> kBusKeys = {"node", "name", "socket", "peers"};
constexpr std::array<std::string_view, 5> kMemoryKeys = {"at", "socket", "size", "copy_bandwidth",
                                                         "host_accessible"};
constexpr std::array<std::string_view, 6> kDeviceKeys = {"at",      "number", "name",
                                                         "threads", "bus",    "copy_latency"};
constexpr std::array<std::string_view, 4> kLinkKeys = {"from", "to", "bandwidth", "latency"};

std::optional<int> whole_number(std::string_view text) {
  int number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

/// "1:2": rank 1, place 2.
MemoryId read_memory_id(const Section& section, std::string_view key) {
  const std::string text = section.text(key);
  const std::size_t colon = text.find(':');
  if (colon != std::string::npos) {
    const std::optional<int> rank = whole_number(std::string_view(text).substr(0, colon));
    const std::optional<int> place = whole_number(std::string_view(text).substr(colon + 1));
    if (rank && place) return {base::RankId{*rank}, base::PlaceId{*place}};
  }
  section.refuse(key, "is \"" + text + "\": expected a rank and a place such as \"0:1\"");
}

Link read_link(const Section& section) {
  section.expect_only(kLinkKeys, "[[link]]");
  return {read_memory_id(section, "from"), read_memory_id(section, "to"), section.rate("bandwidth"),
          section.time_ps("latency")};
}

void add_plain_node(MachineDraft& draft, const Section& section) {
  section.expect_only(kNodeKeys, "[[node]] of a file with [[rank]]");
  draft.add(Node{section.text("name"), section.whole("sockets", 1, kAnyInt, 1),
                 section.whole("cores", 1, kAnyInt), read_speed(section, "between_ranks")},
            section.position());
}

void add_rank(MachineDraft& draft, const Section& section) {
  section.expect_only(kRankKeys, "[[rank]]");
  draft.add(Rank{section.whole("node", 0, kAnyInt), section.whole("cores", 1, kAnyInt)}, section.position());
}

void add_bus(MachineDraft& draft, const Section& section) {
  section.expect_only(kBusKeys, "[[bus]]");
  draft.add(Bus{section.whole("node", 0, kAnyInt), section.text("name"),
                section.whole("socket", 0, kAnyInt, 0), section.boolean("peers", true)},
            section.position());
}

void add_memory(MachineDraft& draft, const Section& section) {
  section.expect_only(kMemoryKeys, "[[memory]]");
  const MemoryId id = read_memory_id(section, "at");
  draft.add(Memory{id.rank, id.place, section.whole("socket", 0, kAnyInt, 0), section.bytes("size"),
                   section.rate("copy_bandwidth"), section.boolean("host_accessible", true)},
            section.position());
}

void add_device(MachineDraft& draft, const Section& section) {
  section.expect_only(kDeviceKeys, "[[device]]");
  const MemoryId id = read_memory_id(section, "at");
  Device device{id.rank,
                base::DeviceId{section.whole("number", 0, kAnyInt)},
                id.place,
                section.text("name"),
                section.whole("threads", 1, kAnyInt, 1),
                std::nullopt,
                section.time_ps("copy_latency", 0)};
  if (section.has("bus")) device.bus = section.whole("bus", 0, kAnyInt);
  draft.add(std::move(device), section.position());
}

void read_parts(MachineDraft& draft, const Section& root) {
  for (const Section& node : root.sections("node")) add_plain_node(draft, node);
  for (const Section& rank : root.sections("rank")) add_rank(draft, rank);
  for (const Section& bus : root.sections("bus")) add_bus(draft, bus);
  for (const Section& memory : root.sections("memory")) add_memory(draft, memory);
  for (const Section& device : root.sections("device")) add_device(draft, device);
  for (const Section& link : root.sections("link")) draft.add(read_link(link), link.position());
}

void read_types(MachineDraft& draft, const Section& root) {
  for (const char* key : {"bus", "memory", "device"}) {
    if (root.has(key))
      root.refuse(key, "stands beside no [[rank]]: expected [[node." + std::string(key) +
                           "]], or all parts one by one with [[rank]]");
  }
  for (const Section& node : root.sections("node")) add_nodes(draft, node);
  for (const Section& link : root.sections("link")) draft.replace(read_link(link), link.position());
}

}  // namespace

Machine read_machine(std::string_view toml, std::string_view file_name) {
  const Section root = Section::parse(toml, file_name);
  root.expect_only(kFileKeys, "the file");
  MachineDraft draft;
  draft.machine.name = root.text("name", "");
  draft.machine.source = root.text("source", "");
  draft.machine.between_nodes = read_speed(root, "between_nodes");
  if (root.has("rank")) {
    read_parts(draft, root);
  } else {
    read_types(draft, root);
  }
  return std::move(draft).finish(root);
}

std::string machine_text(const std::filesystem::path& path) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorCode::bad_setting, path.string() + ": " + why + ": expected the path of a machine file");
  };
  std::error_code failure;
  const std::filesystem::file_status status = std::filesystem::status(path, failure);
  if (!std::filesystem::exists(status)) refuse("there is no such file");
  if (std::filesystem::is_directory(status)) refuse("is a folder");
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse("cannot be opened");
  std::string text;
  try {
    text.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  } catch (const std::ios_base::failure&) {
    refuse("cannot be read");
  }
  if (file.bad()) refuse("cannot be read");
  return text;
}

Machine read_machine_file(const std::filesystem::path& path) {
  return read_machine(machine_text(path), path.string());
}

}  // namespace nuna::topology
