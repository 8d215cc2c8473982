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

void Doorbell::wake() {
  rings_.fetch_add(1, std::memory_order_seq_cst);
  const MutexLock lock(mutex_);
  condition_.notify_all();
}

Doorbell::Sleeper::Sleeper(Doorbell& bell, bool rings) : bell_(bell), rings_(rings) {
  if (rings_) bell_.sleepers_.fetch_add(1, std::memory_order_seq_cst);
  seen_ = bell_.rings_.load(std::memory_order_seq_cst);
}
Doorbell::Sleeper::~Sleeper() {
  if (rings_) bell_.sleepers_.fetch_sub(1, std::memory_order_seq_cst);
}

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

struct ProgramDriven {
  Mutex mutex;  // held while they are driven: the network may be for one thread at a time
  std::vector<const std::function<bool()>*> drivers NUNA_GUARDED_BY(mutex);
};

ProgramDriven& program_driven() {
  static auto* only = new ProgramDriven;  // used while the process ends
  return *only;
}

}  // namespace

void Doorbell::set_driver(Drivers who, std::function<bool()> driver) {
  who_.store(Drivers::none, std::memory_order_release);
  {
    const MutexLock lock(program_driven().mutex);
    std::erase(program_driven().drivers, &driver_);
  }
  while (in_driver_.exchange(true, std::memory_order_acquire)) std::this_thread::yield();
  driver_ = std::move(driver);
  in_driver_.store(false, std::memory_order_release);
  if (who == Drivers::program) {
    const MutexLock lock(program_driven().mutex);
    program_driven().drivers.push_back(&driver_);
  }
  who_.store(who, std::memory_order_release);
}

bool Doorbell::drive() {
  if (who_.load(std::memory_order_acquire) == Drivers::program) return drive_all();
  if (in_driver_.exchange(true, std::memory_order_acquire)) return false;
  const bool moved = driver_ != nullptr && driver_();
  in_driver_.store(false, std::memory_order_release);
  return moved;
}

bool Doorbell::drive_all() {
  const MutexLock lock(program_driven().mutex);
  bool moved = false;
  for (const auto* driver : program_driven().drivers) moved = (*driver)() || moved;
  return moved;
}

void Doorbell::pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

// Who sleeps has announced what it wants, looked, and remembers how often the bell had rung before; so either it has seen
// this value, or its wish is seen here.
void Timeline::complete(std::uint64_t value) {
  completed_.store(value, std::memory_order_seq_cst);
  if (wanted_.load(std::memory_order_seq_cst) > value) {
    bell_.ring();
    return;
  }
  wanted_.store(kNothing, std::memory_order_seq_cst);  // those who want more say so again
  bell_.wake();
}

void Timeline::want(std::uint64_t value) {
  std::uint64_t least = wanted_.load(std::memory_order_seq_cst);
  while (value < least && !wanted_.compare_exchange_weak(least, value, std::memory_order_seq_cst)) {
  }
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
