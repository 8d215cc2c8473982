#include "trace/stats.hpp"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <vector>

namespace nuna::trace {
namespace {

constexpr std::array<Route, kRoutes> kAllRoutes{Route::same_memory,    Route::device_to_device,
                                                Route::host_to_device, Route::device_to_host,
                                                Route::send,           Route::receive};
constexpr std::array<Phase, kPhases> kAllPhases{Phase::planner, Phase::tracker, Phase::wait, Phase::transfer};

std::string scaled(double value, double step, const std::vector<const char*>& units) {
  std::size_t unit = 0;
  for (; value >= step && unit + 1 < units.size(); ++unit) value /= step;
  char text[48];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
  return text;
}

std::string size_text(std::uint64_t bytes) {
  return scaled(static_cast<double>(bytes), 1024, {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"});
}

std::string time_text(std::uint64_t ns) {
  return scaled(static_cast<double>(ns), 1000, {"ns", "us", "ms", "s"});
}

std::string traffic_text(const char* name, const Traffic& traffic) {
  return std::string("\n") + name + ": " + std::to_string(traffic.count) + " times, " +
         size_text(traffic.bytes);
}

Traffic operator+(const Traffic& a, const Traffic& b) { return {a.count + b.count, a.bytes + b.bytes}; }
Traffic operator-(const Traffic& a, const Traffic& b) { return {a.count - b.count, a.bytes - b.bytes}; }

nlohmann::ordered_json json_of(const Traffic& traffic) {
  return {{"count", traffic.count}, {"bytes", traffic.bytes}};
}

}  // namespace

const char* to_string(Route route) {
  switch (route) {
    case Route::same_memory:
      return "same memory";
    case Route::device_to_device:
      return "device to device";
    case Route::host_to_device:
      return "host to device";
    case Route::device_to_host:
      return "device to host";
    case Route::send:
      return "send";
    case Route::receive:
      return "receive";
  }
  return "unknown";
}

const char* to_string(Phase phase) {
  switch (phase) {
    case Phase::planner:
      return "planner";
    case Phase::tracker:
      return "tracker";
    case Phase::wait:
      return "wait";
    case Phase::transfer:
      return "transfer";
  }
  return "unknown";
}

StatsSnapshot& StatsSnapshot::operator+=(const StatsSnapshot& other) {
  for (std::size_t i = 0; i < traffic.size(); ++i) traffic[i] = traffic[i] + other.traffic[i];
  for (std::size_t i = 0; i < phase_ns.size(); ++i) phase_ns[i] += other.phase_ns[i];
  launches += other.launches;
  plan_cache_hits += other.plan_cache_hits;
  plan_cache_misses += other.plan_cache_misses;
  evictions = evictions + other.evictions;
  faults = faults + other.faults;
  updates = updates + other.updates;
  for (const auto& [name, count] : other.fallbacks) fallbacks[name] += count;
  return *this;
}

StatsSnapshot StatsSnapshot::since(const StatsSnapshot& earlier) const {
  StatsSnapshot result = *this;
  for (std::size_t i = 0; i < traffic.size(); ++i) result.traffic[i] = traffic[i] - earlier.traffic[i];
  for (std::size_t i = 0; i < phase_ns.size(); ++i) result.phase_ns[i] -= earlier.phase_ns[i];
  result.launches -= earlier.launches;
  result.plan_cache_hits -= earlier.plan_cache_hits;
  result.plan_cache_misses -= earlier.plan_cache_misses;
  result.evictions = evictions - earlier.evictions;
  result.faults = faults - earlier.faults;
  result.updates = updates - earlier.updates;
  for (const auto& [name, count] : earlier.fallbacks) result.fallbacks[name] -= count;
  std::erase_if(result.fallbacks, [](const auto& entry) { return entry.second == 0; });
  return result;
}

std::string to_string(const StatsSnapshot& snapshot) {
  std::string text = "launches: " + std::to_string(snapshot.launches) +
                     " (plans: " + std::to_string(snapshot.plan_cache_hits) + " from the cache, " +
                     std::to_string(snapshot.plan_cache_misses) + " made)";
  text += "\ntime: planner " + time_text(snapshot.spent_ns(Phase::planner)) + ", tracker " +
          time_text(snapshot.spent_ns(Phase::tracker)) + ", waited " +
          time_text(snapshot.spent_ns(Phase::wait));
  for (const Route route : kAllRoutes) {
    if (snapshot.moved(route).count > 0) text += traffic_text(to_string(route), snapshot.moved(route));
  }
  if (snapshot.evictions.count > 0) text += traffic_text("evictions", snapshot.evictions);
  if (snapshot.faults.count > 0) text += traffic_text("host faults", snapshot.faults);
  if (snapshot.updates.count > 0) text += traffic_text("updates", snapshot.updates);
  for (const auto& [name, count] : snapshot.fallbacks)
    text += "\nfallback: " + name + " " + std::to_string(count) + " times";
  return text;
}

std::string to_json(const StatsSnapshot& snapshot) {
  nlohmann::ordered_json json;
  json["launches"] = snapshot.launches;
  json["plan_cache"] = {{"hits", snapshot.plan_cache_hits}, {"misses", snapshot.plan_cache_misses}};
  for (const Phase phase : kAllPhases) json[std::string(to_string(phase)) + "_ns"] = snapshot.spent_ns(phase);
  for (const Route route : kAllRoutes) {
    std::string key = to_string(route);
    std::replace(key.begin(), key.end(), ' ', '_');
    json["traffic"][key] = json_of(snapshot.moved(route));
  }
  json["evictions"] = json_of(snapshot.evictions);
  json["host_faults"] = json_of(snapshot.faults);
  json["updates"] = json_of(snapshot.updates);
  json["fallbacks"] = nlohmann::ordered_json::object();
  for (const auto& [name, count] : snapshot.fallbacks) json["fallbacks"][name] = count;
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void Stats::fell_back(std::string_view name) {
  const base::MutexLock lock(mutex_);
  const auto known = fallbacks_.find(name);
  if (known != fallbacks_.end()) {
    ++known->second;
  } else {
    fallbacks_.emplace(name, 1);
  }
}

StatsSnapshot Stats::snapshot() const {
  const auto load = [](const Counter& counter) { return counter.load(std::memory_order_relaxed); };
  StatsSnapshot result;
  for (std::size_t i = 0; i < traffic_.size(); ++i) result.traffic[i] = traffic_[i].load();
  for (std::size_t i = 0; i < kPhases; ++i) result.phase_ns[i] = load(planning_.phase_ns[i]);
  result.launches = load(planning_.launches);
  result.plan_cache_hits = load(planning_.hits);
  result.plan_cache_misses = load(planning_.misses);
  result.evictions = evictions_.load();
  result.faults = faults_.load();
  result.updates = updates_.load();
  const base::MutexLock lock(mutex_);
  result.fallbacks = fallbacks_;
  return result;
}

}  // namespace nuna::trace
