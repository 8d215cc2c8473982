#pragma once
// What Nuna says on standard error: one line per event, by component and rank.
//
//   nuna warning [cluster, rank 1]: rank 0 has not answered for 5 s
//
// Threads: any thread may log; lines are written whole. Cost of a level that is off: one relaxed load, so
// build texts for `debug` and `info` behind log_enabled(). Nothing here throws, except configure_log and
// parse_log_level. The level comes from NUNA_LOG at first use (warn when unset or without meaning;
// configure_log refuses the latter).

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "base/mutex.hpp"

namespace nuna::base {

class Settings;

/// error: a failure of the world, logged once by the first to see it. warn: works, but not as hoped. info:
/// choices made, once a run. debug: once a call.
enum class LogLevel { debug, info, warn, error };

/// "warn", "info" or "debug"; anything else is Error (bad_setting).
LogLevel parse_log_level(std::string_view text);
/// Takes the level from NUNA_LOG; Error (bad_setting) when it has no meaning. At start, before other threads
/// log.
void configure_log(const Settings& settings);

void set_log_level(LogLevel least);
bool log_enabled(LogLevel level);

/// Writes `text` if `level` is on. `rank` is left out by what knows no rank.
void log(LogLevel level, std::string_view component, std::optional<RankId> rank, std::string_view text);

/// A warning that the process gives once per `key`, however often and from however many threads it is
/// reported. Keys are remembered for ever: few, or fixed. True when it was the first time.
bool warn_once(std::string_view key, std::string_view text);

/// While one is alive, every line that passes the level goes to it instead of standard error; the newest one
/// gets it. For tests: expect what must be said, and that nothing else was.
class LogCapture {
 public:
  explicit LogCapture(LogLevel least = LogLevel::warn);
  ~LogCapture();
  LogCapture(const LogCapture&) = delete;
  LogCapture& operator=(const LogCapture&) = delete;

  std::vector<std::string> lines() const NUNA_EXCLUDES(mutex_);

 private:
  friend void log(LogLevel, std::string_view, std::optional<RankId>, std::string_view);
  LogCapture* outer_;
  LogLevel outer_level_;
  std::set<std::string, std::less<>> outer_warned_;
  mutable Mutex mutex_;
  std::vector<std::string> lines_ NUNA_GUARDED_BY(mutex_);
};

}  // namespace nuna::base
