#include "base/log.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <atomic>
#include <memory>

#include "base/settings.hpp"
#include "nuna/error.hpp"

namespace nuna::base {
namespace {

LogLevel level_of_environment() {
  try {
    return parse_log_level(Settings::from_environment().text("NUNA_LOG", "warn"));
  } catch (const Error&) {
    return LogLevel::warn;  // logging never throws; configure_log reports it
  }
}

std::atomic<LogLevel>& level_now() {
  static std::atomic<LogLevel> level{level_of_environment()};
  return level;
}

// A logger of our own, not in spdlog's registry: the program may use spdlog too. Never destroyed, so that
// threads may log while the process exits.
spdlog::logger& standard_error() {
  static auto* logger = [] {
    auto* made = new spdlog::logger("nuna", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("%v");
    made->set_level(spdlog::level::trace);
    made->flush_on(spdlog::level::trace);
    return made;
  }();
  return *logger;
}

struct Captures {
  Mutex mutex;
  LogCapture* newest NUNA_GUARDED_BY(mutex) = nullptr;
};
Captures& captures() {
  static auto* made = new Captures;
  return *made;
}

struct Warned {
  Mutex mutex;
  std::set<std::string, std::less<>> keys NUNA_GUARDED_BY(mutex);
};
Warned& warned() {
  static auto* made = new Warned;
  return *made;
}

std::string_view name_of(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return "debug";
    case LogLevel::info:
      return "info";
    case LogLevel::warn:
      return "warning";
    case LogLevel::error:
      return "error";
  }
  return "?";
}

std::string line_of(LogLevel level, std::string_view component, std::optional<RankId> rank,
                    std::string_view text) {
  std::string line = "nuna ";
  line += name_of(level);
  if (!component.empty() || rank) {
    line += " [";
    line += component;
    if (rank) line += (component.empty() ? "rank " : ", rank ") + std::to_string(rank->value);
    line += "]";
  }
  line += ": ";
  line += text;
  return line;
}

}  // namespace

LogLevel parse_log_level(std::string_view text) {
  if (text == "warn") return LogLevel::warn;
  if (text == "info") return LogLevel::info;
  if (text == "debug") return LogLevel::debug;
  throw Error(ErrorCode::bad_setting,
              "NUNA_LOG is \"" + std::string(text) + "\": expected warn, info or debug");
}

void configure_log(const Settings& settings) {
  set_log_level(parse_log_level(settings.text("NUNA_LOG", "warn")));
}

void set_log_level(LogLevel least) { level_now().store(least, std::memory_order_relaxed); }
bool log_enabled(LogLevel level) { return level >= level_now().load(std::memory_order_relaxed); }

void log(LogLevel level, std::string_view component, std::optional<RankId> rank, std::string_view text) {
  if (!log_enabled(level)) return;
  std::string line = line_of(level, component, rank, text);
  {
    const MutexLock lock(captures().mutex);
    if (LogCapture* capture = captures().newest) {
      const MutexLock capture_lock(capture->mutex_);
      capture->lines_.push_back(std::move(line));
      return;
    }
  }
  standard_error().log(spdlog::level::critical, spdlog::string_view_t(line.data(), line.size()));
}

bool warn_once(std::string_view key, std::string_view text) {
  {
    const MutexLock lock(warned().mutex);
    if (!warned().keys.emplace(key).second) return false;
  }
  log(LogLevel::warn, "", std::nullopt, text);
  return true;
}

LogCapture::LogCapture(LogLevel least) : outer_level_(level_now().load()) {
  const MutexLock lock(captures().mutex);
  outer_ = captures().newest;
  captures().newest = this;
  set_log_level(least);
  const MutexLock warned_lock(warned().mutex);
  outer_warned_.swap(warned().keys);
}

LogCapture::~LogCapture() {
  const MutexLock lock(captures().mutex);
  captures().newest = outer_;
  set_log_level(outer_level_);
  const MutexLock warned_lock(warned().mutex);
  outer_warned_.swap(warned().keys);
}

std::vector<std::string> LogCapture::lines() const {
  const MutexLock lock(mutex_);
  return lines_;
}

}  // namespace nuna::base
