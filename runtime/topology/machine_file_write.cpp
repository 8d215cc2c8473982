#include <array>
#include <cstdio>
#include <string>
#include <string_view>

#include "base/check.hpp"
#include "base/units.hpp"
#include "topology/machine_file.hpp"

namespace nuna::topology {
namespace {

std::string in_quotes(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (code < 0x20 || code == 0x7f) {
      std::array<char, 8> escaped{};
      std::snprintf(escaped.data(), escaped.size(), "\\u%04x", code);
      result += escaped.data();
    } else {
      result += c;
    }
  }
  return result + "\"";
}

std::string line(std::string_view key, const std::string& value) {
  return std::string(key) + " = " + value + "\n";
}
std::string text_line(std::string_view key, std::string_view text) { return line(key, in_quotes(text)); }
std::string number_line(std::string_view key, int number) { return line(key, std::to_string(number)); }
std::string rate_line(std::string_view key, std::int64_t bytes_per_second) {
  return text_line(key, base::print_bytes_per_second(bytes_per_second));
}
std::string time_line(std::string_view key, std::int64_t time_ps) {
  return text_line(key, base::print_picoseconds(time_ps));
}
std::string flag_line(std::string_view key, bool flag) { return line(key, flag ? "true" : "false"); }

std::string speed_line(std::string_view key, const std::optional<Speed>& speed) {
  if (!speed) return {};
  return line(key, "{ bandwidth = " + in_quotes(base::print_bytes_per_second(speed->bytes_per_second)) +
                       ", latency = " + in_quotes(base::print_picoseconds(speed->latency_ps)) + " }");
}

std::string id_line(std::string_view key, const MemoryId& id) {
  return text_line(key, std::to_string(id.rank.value) + ":" + std::to_string(id.place.value));
}

std::string text_of(const Node& node) {
  return "\n[[node]]\n" + text_line("name", node.name) + number_line("sockets", node.sockets) +
         number_line("cores", node.cores) + speed_line("between_ranks", node.between_ranks);
}

std::string text_of(const Rank& rank) {
  return "\n[[rank]]\n" + number_line("node", rank.node) + number_line("cores", rank.cores);
}

std::string text_of(const Bus& bus) {
  return "\n[[bus]]\n" + number_line("node", bus.node) + text_line("name", bus.name) +
         number_line("socket", bus.socket) + flag_line("peers", bus.peers);
}

std::string text_of(const Memory& memory) {
  return "\n[[memory]]\n" + id_line("at", memory.id()) + number_line("socket", memory.socket) +
         text_line("size", base::print_bytes(memory.size_bytes)) +
         rate_line("copy_bandwidth", memory.copy_bytes_per_second) +
         flag_line("host_accessible", memory.host_accessible);
}

std::string text_of(const Device& device) {
  return "\n[[device]]\n" + id_line("at", device.memory()) + number_line("number", device.device.value) +
         text_line("name", device.name) + number_line("threads", device.threads) +
         (device.bus ? number_line("bus", *device.bus) : "") +
         time_line("copy_latency", device.copy_latency_ps);
}

std::string text_of(const Link& link) {
  return "\n[[link]]\n" + id_line("from", link.from) + id_line("to", link.to) +
         rate_line("bandwidth", link.bytes_per_second) + time_line("latency", link.latency_ps);
}

}  // namespace

std::string write_machine(const Machine& machine) {
  const std::string wrong = problem(machine);
  base::check(wrong.empty(), "a machine with a problem is written: " + wrong);
  base::check(!machine.ranks.empty(), "a machine without ranks is written");
  std::string text = text_line("name", machine.name) + text_line("source", machine.source) +
                     speed_line("between_nodes", machine.between_nodes);
  for (const Node& node : machine.nodes) text += text_of(node);
  for (const Rank& rank : machine.ranks) text += text_of(rank);
  for (const Bus& bus : machine.buses) text += text_of(bus);
  for (const Memory& memory : machine.memories) text += text_of(memory);
  for (const Device& device : machine.devices) text += text_of(device);
  for (const Link& link : machine.links) text += text_of(link);
  return text;
}

}  // namespace nuna::topology
