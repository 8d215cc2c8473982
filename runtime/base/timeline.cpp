#include "base/timeline.hpp"

#include <algorithm>
#include <thread>

namespace nuna::base {

void Doorbell::ring() {
  rings_.fetch_add(1, std::memory_order_seq_cst);
  if (sleepers_.load(std::memory_order_seq_cst) == 0) return;
  const MutexLock lock(mutex_);  // a sleeper between its last look and its sleep holds it
  condition_.notify_all();
}

Doorbell::Sleeper::Sleeper(Doorbell& bell) : bell_(bell) {
  bell_.sleepers_.fetch_add(1, std::memory_order_seq_cst);
  seen_ = bell_.rings_.load(std::memory_order_seq_cst);
}
Doorbell::Sleeper::~Sleeper() { bell_.sleepers_.fetch_sub(1, std::memory_order_seq_cst); }

void Doorbell::Sleeper::sleep(std::chrono::nanoseconds at_most) const {
  const auto slice = std::min<std::chrono::nanoseconds>(at_most, std::chrono::seconds(1));
  MutexLock lock(bell_.mutex_);
  if (bell_.rings_.load(std::memory_order_seq_cst) == seen_) lock.wait_for(bell_.condition_, slice);
}

void Doorbell::Pace::rest(Doorbell& bell) {
  constexpr int kYields = 200;
  constexpr std::chrono::microseconds kShortest{20};
  constexpr int kMostDoublings = 5;
  if (rounds_++ < kYields) {
    std::this_thread::yield();
    return;
  }
  bell.sleep(kShortest * (1 << std::min((rounds_ - kYields) / 16, kMostDoublings)));
}

namespace {

struct Drivers {
  Mutex mutex;
  std::vector<std::pair<const Doorbell*, std::function<bool()>>> all NUNA_GUARDED_BY(mutex);
};

Drivers& drivers() {
  static auto* only = new Drivers;  // used while the process ends
  return *only;
}

}  // namespace

void Doorbell::set_driver(std::function<bool()> driver) {
  const MutexLock lock(drivers().mutex);
  std::erase_if(drivers().all, [this](const auto& d) { return d.first == this; });
  driven_.store(driver != nullptr, std::memory_order_release);
  if (driver != nullptr) drivers().all.emplace_back(this, std::move(driver));
}

bool Doorbell::drive() {
  const MutexLock lock(drivers().mutex);
  bool moved = false;
  for (const auto& [bell, driver] : drivers().all) moved = driver() || moved;
  return moved;
}

void Doorbell::pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

void Timeline::complete(std::uint64_t value) {
  completed_.store(value, std::memory_order_release);
  bell_.ring();
}

void Timeline::fail(std::uint64_t value, std::exception_ptr failure) {
  const MutexLock lock(mutex_);
  failures_.emplace_back(value, std::move(failure));
  any_failed_.store(true, std::memory_order_release);
}

std::exception_ptr Timeline::failure(std::uint64_t value) const {
  if (!any_failed_.load(std::memory_order_acquire)) return nullptr;
  const MutexLock lock(mutex_);
  const auto found =
      std::find_if(failures_.begin(), failures_.end(), [&](const auto& f) { return f.first == value; });
  return found == failures_.end() ? nullptr : found->second;
}

}  // namespace nuna::base
