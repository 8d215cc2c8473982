#include "common/progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

namespace apps {

Progress::Progress(std::string what, std::int64_t total, bool wanted)
    : what_(std::move(what)), total_(total), drawn_(wanted && ::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (drawn_) std::fputs("\r\033[K", stderr);
}

void Progress::update(std::int64_t done) {
  if (!drawn_) return;
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + std::chrono::milliseconds(100);
  const std::string text = line(what_, done, total_, std::chrono::duration<double>(now - start_).count());
  std::fprintf(stderr, "\r%s\033[K", text.c_str());
  std::fflush(stderr);
}

std::string Progress::line(const std::string& what, std::int64_t done, std::int64_t total, double seconds) {
  constexpr int kWidth = 40;
  const double share = total > 0 ? std::clamp(double(done) / double(total), 0.0, 1.0) : 1.0;
  const auto full = std::size_t(share * kWidth);
  std::string text = what + "  [" + std::string(full, '#') + std::string(kWidth - full, '-') + "]  " +
                     std::to_string(int(share * 100.0)) + " %";
  if (share > 0.0 && share < 1.0) {
    text += "  " + std::to_string(int(std::ceil(seconds * (1.0 - share) / share))) + " s left";
  }
  return text;
}

}  // namespace apps
