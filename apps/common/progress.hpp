#pragma once
// A progress bar on a terminal; silent anywhere else.

#include <chrono>
#include <cstdint>
#include <string>

namespace apps {

/// "wave  [########------------]  40 %  12 s left". One thread. Drawn on standard error at most ten times a
/// second, and wiped when it ends, so that it costs nothing in a loop and leaves no trace in a log.
class Progress {
 public:
  /// `wanted` false: never drawn. Otherwise drawn when standard error is a terminal.
  Progress(std::string what, std::int64_t total, bool wanted = true);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  void update(std::int64_t done);

  /// The line for `done` of `total` after `seconds`: what update() draws.
  static std::string line(const std::string& what, std::int64_t done, std::int64_t total, double seconds);

 private:
  using Clock = std::chrono::steady_clock;
  std::string what_;
  std::int64_t total_;
  bool drawn_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point next_ = start_;
};

}  // namespace apps
