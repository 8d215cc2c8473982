#include "device/host/team.hpp"

#include "base/check.hpp"
#include "base/worker_thread.hpp"

namespace nuna::device::host {
namespace {
constexpr int kPartBits = 16;
constexpr std::uint64_t kPartMask = (std::uint64_t{1} << kPartBits) - 1;
}  // namespace

Team::Team(int threads, std::chrono::nanoseconds spin, const std::string& name)
    : start_(spin), finish_(spin) {
  base::check(threads >= 1 && threads <= kMaxThreads, "a team has between 1 and kMaxThreads threads");
  seats_ = std::make_unique<Seat[]>(static_cast<std::size_t>(threads));
  helpers_.reserve(static_cast<std::size_t>(threads) - 1);
  for (int part = 1; part < threads; ++part) {
    helpers_.push_back(base::start_worker(name + "/" + std::to_string(part), [this, part] { serve(part); }));
  }
}

Team::~Team() {
  stop_.store(true, std::memory_order_release);
  start_.ring();
  for (std::thread& helper : helpers_) helper.join();
}

void Team::run(int parts, Work work) {
  base::check(parts >= 0 && parts <= threads(), "a team has a thread for every part");
  if (parts <= 1) {
    if (parts == 1) work(0);
    return;
  }
  work_ = &work;
  failure_ = nullptr;
  failed_.store(false, std::memory_order_relaxed);
  unfinished_.store(parts, std::memory_order_relaxed);
  const std::uint64_t number = (job_.load(std::memory_order_relaxed) >> kPartBits) + 1;
  const std::uint64_t job = number << kPartBits | static_cast<std::uint64_t>(parts);
  job_.store(job, std::memory_order_release);
  start_.ring();

  perform(0);
  for (int part = parts - 1; part > 0; --part) {
    if (claim(part, job)) perform(part);
  }
  finish_.wait([this] { return unfinished_.load(std::memory_order_acquire) == 0; });
  if (failed_.load(std::memory_order_relaxed)) std::rethrow_exception(std::move(failure_));
}

void Team::serve(int part) {
  std::uint64_t seen = 0;
  for (;;) {
    start_.wait([&] {
      return job_.load(std::memory_order_acquire) != seen || stop_.load(std::memory_order_acquire);
    });
    if (stop_.load(std::memory_order_acquire)) return;
    seen = job_.load(std::memory_order_acquire);
    if (part < static_cast<int>(seen & kPartMask) && claim(part, seen)) perform(part);
  }
}

// Jobs are numbered upwards and a job ends only when all its parts were taken. So who comes late, with the
// word of an old job, finds a claim that is as new or newer, and leaves work_ alone.
bool Team::claim(int part, std::uint64_t job) {
  std::atomic<std::uint64_t>& claimed = seats_[static_cast<std::size_t>(part)].claimed;
  std::uint64_t last = claimed.load(std::memory_order_relaxed);
  return last < job && claimed.compare_exchange_strong(last, job, std::memory_order_acq_rel);
}

void Team::perform(int part) {
  try {
    (*work_)(part);
  } catch (...) {
    if (!failed_.exchange(true, std::memory_order_relaxed)) failure_ = std::current_exception();
  }
  if (unfinished_.fetch_sub(1, std::memory_order_acq_rel) == 1) finish_.ring();
}

}  // namespace nuna::device::host
