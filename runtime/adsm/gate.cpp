#include "adsm/gate.hpp"

#include "adsm/futex.hpp"

namespace nuna::adsm {
namespace {

// One word for all gates: who waits for a gate that is gone sleeps on memory that is not.
std::atomic<std::uint32_t> resumes{0};
std::atomic<std::uint32_t> sleepers{0};

constexpr std::chrono::milliseconds kMoment(1);
constexpr int kSpins = 256;  // a handler copies a block in some microseconds

}  // namespace

Gate::Entry Gate::enter() noexcept {
  std::uint32_t state = state_.load(std::memory_order_relaxed);
  for (;;) {
    if ((state & kPaused) != 0) return paused_here() ? Entry::mine : Entry::paused;
    if (state_.compare_exchange_weak(state, state + 1, std::memory_order_acquire)) return Entry::inside;
  }
}

void Gate::leave() noexcept {
  if (state_.fetch_sub(1, std::memory_order_release) == (kPaused | 1)) wake_all(state_);
}

void Gate::pause() noexcept {
  while (!try_pause()) wait_for_resume(resumed(), kMoment);
}

bool Gate::try_pause() noexcept {
  if (paused_here()) {
    ++depth_;
    return true;
  }
  if ((state_.fetch_or(kPaused, std::memory_order_acquire) & kPaused) != 0) return false;
  wait_until_empty();
  owner_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  depth_ = 1;
  return true;
}

void Gate::wait_until_empty() noexcept {
  for (int spins = 0;; ++spins) {
    const std::uint32_t state = state_.load(std::memory_order_acquire);
    if (state == kPaused) return;
    if (spins >= kSpins) sleep_while(state_, state, kMoment);
  }
}

void Gate::resume() noexcept {
  if (--depth_ > 0) return;
  owner_.store(std::thread::id(), std::memory_order_relaxed);
  state_.fetch_and(~kPaused, std::memory_order_release);
  resumes.fetch_add(1, std::memory_order_seq_cst);
  if (sleepers.load(std::memory_order_seq_cst) != 0) wake_all(resumes);
}

std::uint32_t Gate::resumed() noexcept { return resumes.load(std::memory_order_seq_cst); }

void Gate::wait_for_resume(std::uint32_t seen, std::chrono::nanoseconds at_most) noexcept {
  sleepers.fetch_add(1, std::memory_order_seq_cst);
  sleep_while(resumes, seen, at_most);
  sleepers.fetch_sub(1, std::memory_order_seq_cst);
}

}  // namespace nuna::adsm
