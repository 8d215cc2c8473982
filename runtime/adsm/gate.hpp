#pragma once
// Gate: many pass through at once, until one holds them all off.
//
// Fault handlers pass; who changes what they look at pauses the gate, which waits for those inside. Passing never waits: a
// handler that finds the gate paused goes away and comes again, because what the gate belongs to may be gone by then.
//
// Threads: any. Signals: enter() and leave() are safe in handlers; a thread must not pause a gate that it is inside of.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

namespace nuna::adsm {

class Gate {
 public:
  enum class Entry : std::uint8_t {
    inside,  ///< leave() must follow
    mine,    ///< this thread has paused the gate itself: it may go on as it is, without leave()
    paused,  ///< another has
  };
  Entry enter() noexcept;
  void leave() noexcept;

  /// Returns when nobody is inside. Pauses of one thread nest; a second thread's waits for the first to resume.
  void pause() noexcept;
  /// The same, unless another thread has paused it. In handlers.
  bool try_pause() noexcept;
  void resume() noexcept;
  bool paused() const noexcept { return (state_.load(std::memory_order_relaxed) & kPaused) != 0; }
  bool paused_here() const noexcept {
    return owner_.load(std::memory_order_relaxed) == std::this_thread::get_id();
  }

  /// Sleeps until some gate of the process was resumed since `seen` was read, or a moment has passed.
  static std::uint32_t resumed() noexcept;
  static void wait_for_resume(std::uint32_t seen, std::chrono::nanoseconds at_most) noexcept;

 private:
  static constexpr std::uint32_t kPaused = std::uint32_t{1} << 31;
  void wait_until_empty() noexcept;

  std::atomic<std::uint32_t> state_{0};  // kPaused, and how many are inside
  std::atomic<std::thread::id> owner_{};
  int depth_ = 0;  // of the owner's pauses
};

/// A pause for a scope.
class Pause {
 public:
  explicit Pause(Gate& gate) : gate_(gate) { gate_.pause(); }
  ~Pause() { gate_.resume(); }
  Pause(const Pause&) = delete;
  Pause& operator=(const Pause&) = delete;

 private:
  Gate& gate_;
};

}  // namespace nuna::adsm
