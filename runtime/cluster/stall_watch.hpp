#pragma once
// When silence is a stall: a peer that shows no sign of life for a given time while somebody waits for it.
//
// A peer that computes for minutes is no stall as long as it shows signs: messages, or publish() (a rank that
// waits for its own devices publishes now and then). A pure value; the caller brings the clock.

#include <chrono>
#include <cstdint>

namespace nuna::cluster {

class StallWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// `signs` is any number that changes when the peer shows a sign of life.
  StallWatch(std::chrono::nanoseconds limit, Time now, std::uint64_t signs)
      : limit_(limit), since_(now), signs_(signs) {}

  /// True when `signs` has not changed for the limit.
  bool stalled(Time now, std::uint64_t signs) {
    if (signs != signs_) {
      signs_ = signs;
      since_ = now;
    }
    return now - since_ >= limit_;
  }
  /// How long to sleep before asking again.
  std::chrono::nanoseconds rest(Time now) const {
    return now - since_ >= limit_ ? std::chrono::nanoseconds(0) : limit_ - (now - since_);
  }

 private:
  std::chrono::nanoseconds limit_;
  Time since_;
  std::uint64_t signs_;
};

}  // namespace nuna::cluster
