#pragma once
// When silence is a stall: a peer that shows no sign of life for a given time while somebody waits for it.
//
// A peer that computes for minutes is no stall as long as it shows signs: messages, or publish() (a rank that
// waits for its own devices publishes now and then). A pure value; the caller brings the clock.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>

namespace nuna::cluster {

inline constexpr std::chrono::nanoseconds kDefaultStall = std::chrono::seconds(5);

/// Silence is told after the limit, and given up after so many times the limit: only the user knows whether a program may be
/// silent that long.
inline constexpr int kPatience = 12;

/// "5.2 s".
std::string waited_text(std::chrono::nanoseconds waited);

class StallWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;
  enum class Verdict : std::uint8_t { fine, slow, stalled };

  /// `signs` is any number that changes when the peer shows a sign of life.
  StallWatch(std::chrono::nanoseconds limit, Time now, std::uint64_t signs)
      : limit_(std::min<std::chrono::nanoseconds>(limit, std::chrono::hours(24 * 365))),
        since_(now),
        signs_(signs) {}

  /// `slow` once, when `signs` has not changed for the limit; `stalled` when it has not for kPatience times that.
  Verdict judge(Time now, std::uint64_t signs) {
    if (signs != signs_) {
      signs_ = signs;
      since_ = now;
      told_ = false;
    }
    if (now - since_ >= limit_ * kPatience) return Verdict::stalled;
    if (told_ || now - since_ < limit_) return Verdict::fine;
    told_ = true;
    return Verdict::slow;
  }
  /// How long to sleep before asking again.
  std::chrono::nanoseconds rest(Time now) const {
    const auto next = since_ + (told_ ? limit_ * kPatience : limit_);
    return now >= next ? std::chrono::nanoseconds(0) : next - now;
  }

 private:
  std::chrono::nanoseconds limit_;
  Time since_;
  std::uint64_t signs_;
  bool told_ = false;
};

}  // namespace nuna::cluster
