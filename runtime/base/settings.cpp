#include "base/settings.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>

#include "base/check.hpp"
#include "base/log.hpp"
#include "base/nearest.hpp"
#include "base/units.hpp"
#include "nuna/error.hpp"

namespace nuna::base {
namespace {

constexpr std::string_view kPrefix = "NUNA_";
constexpr std::string_view kTestPrefix = "NUNA_TEST_";  // read by the tests, not by Nuna

constexpr std::array kKnown = {
    SettingInfo{"NUNA_AHEAD", "1 to 1,048,576", "64",
                "launches that may run ahead of the oldest unfinished one"},
    SettingInfo{
        "NUNA_ALL_RANKS", "on or off", "off",
        "what ranks other than the first of a CUDA program write to standard output and error is shown, too"},
    SettingInfo{"NUNA_AUDIT", "on or off", "off",
                "what kernels of nunacc --audit touch is compared with what their models say, block by "
                "block; what is not so "
                "fails; nunacc: compile so"},
    SettingInfo{"NUNA_BLOCK", "a size", "64 KiB",
                "bytes that are brought and opened together when the host touches a buffer: a power of two, "
                "4 KiB to 2 MiB",
                "Buffer::set_block"},
    SettingInfo{
        "NUNA_CHECK", "on or off", "off",
        "reading bytes that nobody wrote is an error, not one warning; messages carry sums of their bytes"},
    SettingInfo{"NUNA_CHUNK", "a size", "by the model",
                "chunks of pipelined messages and staged copies, at most 1 MiB"},
    SettingInfo{"NUNA_CUDA_DRIVER", "a library's path", "libcuda.so.1", "the CUDA driver to load"},
    SettingInfo{
        "NUNA_CUDA_MEMORY", "mapped or plain", "mapped",
        "how memory of CUDA devices is got: mapped where it is used, or allocated whole at the start"},
    SettingInfo{"NUNA_DEVICE", "auto, host or cuda", "auto",
                "kind of devices; auto: CUDA devices if there are some and the program has kernels for them",
                "Options::kind"},
    SettingInfo{"NUNA_DEVICES", "1 to 63", "1, or a rank's share of its node's GPUs", "devices of each rank",
                "Options::devices, --devices N"},
    SettingInfo{"NUNA_DRY_RUN", "on or off", "off", "print what launches would do, and move nothing",
                "Options::dry_run"},
    SettingInfo{"NUNA_FAULTS", "on or off", "on",
                "host pointers bring bytes when they are touched (one rank); off: when a view is opened"},
    SettingInfo{"NUNA_INJECT", "route:fault, ...", "none",
                "faults planted into routes, to see what becomes of them"},
    SettingInfo{"NUNA_LOG", "warn, info, debug", "warn", "least level of what is told on standard error"},
    SettingInfo{"NUNA_MACHINE", "a machine file's path", "guesses", "rates and links of the machine"},
    SettingInfo{"NUNA_MEMORY_LIMIT", "a size", "the machine's, or its cgroup's",
                "bytes that instances may use in each memory of a rank", "Options::memory_limit_bytes"},
    SettingInfo{"NUNA_OVERLAP", "0 to 2^60", "16384",
                "least threads of a part that run while bytes for its other threads travel; 0: none do"},
    SettingInfo{"NUNA_POISON", "on or off", "off",
                "fill fresh and stale memory with NaN, so that a missing transfer shows"},
    SettingInfo{"NUNA_PROFILE", "on or off", "off",
                "kernels of nunacc --audit that nunacc cannot describe are recorded, and split over "
                "devices when what they touch is stable and disjoint; "
                "nunacc: compile so"},
    SettingInfo{
        "NUNA_ROUTES", "mapped, packed, pipelined, direct, staged", "all",
        "only these ways of messages (the first three) and of copies (the others), where they are possible"},
    SettingInfo{"NUNA_STAGING", "a size", "64 MiB",
                "locked memory of a rank through which bytes pass that cannot go directly"},
    SettingInfo{"NUNA_STALL", "a time above 0", "5 s",
                "silence of a rank that others wait for: told after this, given up after 12 times"},
    SettingInfo{"NUNA_STATS", "on or off", "off",
                "a CUDA program ends with what its devices counted, on standard error (Context::stats)"},
    SettingInfo{"NUNA_THREADS", "1 to 4,096", "the allowed cores divided by the devices",
                "worker threads of each host device", "Options::threads_per_device"},
    SettingInfo{"NUNA_TRACE", "a path", "none", "write a trace that opens in Perfetto"},
};

bool is_known(std::string_view name) {
  return std::any_of(kKnown.begin(), kKnown.end(), [&](const SettingInfo& s) { return s.name == name; });
}

[[noreturn]] void refuse(std::string_view name, std::string_view value, std::string_view expected) {
  throw Error(ErrorCode::bad_setting,
              std::string(name) + " is \"" + std::string(value) + "\": expected " + std::string(expected));
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlank);
  return first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::string_view nearest_known(std::string_view name) {
  std::array<std::string_view, kKnown.size()> names;
  std::transform(kKnown.begin(), kKnown.end(), names.begin(), [](const SettingInfo& s) { return s.name; });
  return nearest(name, names);
}

}  // namespace

std::span<const SettingInfo> known_settings() { return kKnown; }

Settings Settings::from_environment() {
  Variables variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || text.substr(0, kPrefix.size()) != kPrefix) continue;
    variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return Settings(std::move(variables));
}

const std::string* Settings::find(std::string_view name) const {
  if (!is_known(name)) panic("setting " + std::string(name) + " is not in the list of known settings");
  const auto found = variables_.find(name);
  return found == variables_.end() || found->second.empty() ? nullptr : &found->second;
}

bool Settings::has(std::string_view name) const { return find(name) != nullptr; }

bool Settings::boolean(std::string_view name, bool fallback) const {
  const std::string* value = find(name);
  if (value == nullptr) return fallback;
  const std::string_view word = trimmed(*value);
  if (word == "1" || word == "on" || word == "yes" || word == "true") return true;
  if (word == "0" || word == "off" || word == "no" || word == "false") return false;
  refuse(name, *value, "1, on, yes or true, or 0, off, no or false");
}

std::int64_t Settings::integer(std::string_view name, std::int64_t fallback, std::int64_t least,
                               std::int64_t most) const {
  const std::string* value = find(name);
  if (value == nullptr) return fallback;
  std::int64_t number = 0;
  const std::string_view word = trimmed(*value);
  const char* const first = std::to_address(word.begin());
  const char* const end = first + word.size();
  const auto parsed = std::from_chars(first, end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end || number < least || number > most) {
    refuse(name, *value, "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return number;
}

std::int64_t Settings::bytes(std::string_view name, std::int64_t fallback_bytes) const {
  const std::string* value = find(name);
  if (value == nullptr) return fallback_bytes;
  try {
    return parse_bytes(*value);
  } catch (const Error&) {
    refuse(name, *value, "a size such as \"512 MiB\" or \"16 GiB\"");
  }
}

std::chrono::nanoseconds Settings::seconds(std::string_view name, std::chrono::nanoseconds fallback) const {
  const std::string* value = find(name);
  if (value == nullptr) return fallback;
  const bool bare = value->find_first_not_of("0123456789. \t") == std::string::npos;
  std::chrono::nanoseconds time{0};
  try {
    time = std::chrono::nanoseconds(parse_picoseconds(bare ? *value + " s" : *value) /
                                    kPicosecondsPerNanosecond);
  } catch (const Error&) {
    time = {};  // refused below
  }
  if (time.count() > 0) return time;
  refuse(name, *value, "seconds above 0, or a time such as \"500 ms\"");
}

std::string Settings::text(std::string_view name, std::string_view fallback) const {
  const std::string* value = find(name);
  return value == nullptr ? std::string(fallback) : *value;
}

void Settings::warn_about_unknown() const {
  for (const auto& [name, value] : variables_) {
    if (is_known(name) || name.starts_with(kTestPrefix)) continue;
    warn_once("setting " + name, name + " is no setting of Nuna and has no effect; did you mean " +
                                     std::string(nearest_known(name)) + "?");
  }
}

}  // namespace nuna::base
