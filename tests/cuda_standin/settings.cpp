// Reads "key=value,key=value". Every mistake is an error: a fault that is not made would let a test pass for nothing.

#include "settings.hpp"

#include <charconv>

#include "names.hpp"

namespace standin {
namespace {

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Cuts `text` at the first `mark`: what stands before it, and `text` becomes what stands after it.
std::string_view take(std::string_view& text, char mark) {
  const auto at = text.find(mark);
  const auto head = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view{} : text.substr(at + 1);
  return head;
}

bool read_flag(std::string_view value, bool& flag) {
  if (value != "0" && value != "1") return false;
  flag = value == "1";
  return true;
}

bool read_size(std::string_view value, std::size_t& size_bytes) {
  struct Unit {
    std::string_view name;
    int shift;
  };
  for (const Unit unit : {Unit{"KiB", 10}, Unit{"MiB", 20}, Unit{"GiB", 30}, Unit{"B", 0}}) {
    if (!value.ends_with(unit.name)) continue;
    const auto count = number(value.substr(0, value.size() - unit.name.size()));
    if (!count || *count == 0 || *count > (std::uint64_t{1} << (44 - unit.shift))) return false;
    size_bytes = static_cast<std::size_t>(*count << unit.shift);
    return true;
  }
  return false;
}

template <class Integer>
bool read_number(std::string_view value, Integer least, Integer most, Integer& result) {
  const auto parsed = number(value);
  if (!parsed || *parsed < static_cast<std::uint64_t>(least) || *parsed > static_cast<std::uint64_t>(most))
    return false;
  result = static_cast<Integer>(*parsed);
  return true;
}

/// "cuMemCreate@3:CUDA_ERROR_OUT_OF_MEMORY"; "@*" is every call.
bool read_fault(std::string_view value, Settings& settings) {
  const auto name = take(value, '@');
  const auto when = take(value, ':');
  const auto error = result_named(value);
  if (!name.starts_with("cu") || !error || *error == CUDA_SUCCESS) return false;
  Fault fault{.error = *error};
  fault.always = when == "*";
  if (!fault.always && !read_number<std::uint64_t>(when, 1, UINT64_MAX, fault.call)) return false;
  settings.faults.emplace(name, fault);
  return true;
}

/// "cuMemcpyAsync:500us"
bool read_slowness(std::string_view value, Settings& settings) {
  const auto name = take(value, ':');
  std::uint64_t microseconds = 0;
  if (!name.starts_with("cu") || !value.ends_with("us")) return false;
  if (!read_number<std::uint64_t>(value.substr(0, value.size() - 2), 0, 60'000'000, microseconds))
    return false;
  settings.slowness[std::string(name)] = std::chrono::microseconds(microseconds);
  return true;
}

/// "0@20": device 0 is lost at its 20th launch.
bool read_loss(std::string_view value, Settings& settings) {
  const auto device = number(take(value, '@'));
  const auto launch = number(value);
  if (!device || *device >= 64 || !launch || *launch == 0) return false;
  settings.losses[static_cast<int>(*device)] = *launch;
  return true;
}

bool read(std::string_view key, std::string_view value, Settings& settings) {
  if (key == "devices") return read_number(value, 0, 64, settings.devices);
  if (key == "capability") return read_number(value, 30, 199, settings.capability);
  if (key == "memory") return read_size(value, settings.memory_bytes);
  if (key == "vmm") return read_flag(value, settings.vmm);
  if (key == "peer") return read_flag(value, settings.peer);
  if (key == "rdma") return read_flag(value, settings.rdma);
  if (key == "handles") return read_flag(value, settings.handles);
  if (key == "hint") return read_flag(value, settings.hint);
  if (key == "fail") return read_fault(value, settings);
  if (key == "slow") return read_slowness(value, settings);
  if (key == "lose") return read_loss(value, settings);
  return false;
}

}  // namespace

std::optional<Settings> parse_settings(std::string_view text, std::string& complaint) {
  Settings settings;
  while (!text.empty()) {
    const auto item = take(text, ',');
    auto value = item;
    const auto key = take(value, '=');
    if (item.empty() || read(key, value, settings)) continue;
    complaint = "cannot read '" + std::string(item) + "'";
    return std::nullopt;
  }
  return settings;
}

}  // namespace standin
