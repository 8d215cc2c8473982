#include "adsm/fault_service.hpp"

#include <mutex>
#include <utility>

#include "adsm/futex.hpp"
#include "base/worker_thread.hpp"

namespace nuna::adsm {
namespace {

constexpr std::chrono::seconds kLong(1);

}  // namespace

FaultService::FaultService(base::Turn& turn, std::function<void(const Request&)> work)
    : turn_(turn), work_(std::move(work)), thread_(base::start_worker("nuna-faults", [this] { serve(); })) {}

FaultService::~FaultService() {
  stopping_.store(true);
  posts_.fetch_add(1);
  wake_all(posts_);
  thread_.join();
}

bool FaultService::post(Request request) noexcept {
  request.thread = std::this_thread::get_id();
  for (Slot& s : slots_) {
    std::uint32_t expected = kFree;
    if (!s.state.compare_exchange_strong(expected, kFilling, std::memory_order_acquire)) continue;
    s.request = request;
    s.state.store(kPosted, std::memory_order_release);
    posts_.fetch_add(1, std::memory_order_release);
    wake_all(posts_);
    return true;
  }
  return false;
}

void FaultService::serve() {
  while (!stopping_.load()) {
    const std::uint32_t seen = posts_.load(std::memory_order_acquire);
    if (!work_off() && !stopping_.load()) sleep_while(posts_, seen, kLong);
  }
}

bool FaultService::work_off() {
  bool any = false;
  for (Slot& s : slots_) {
    if (s.state.load(std::memory_order_acquire) != kPosted) continue;
    const Request request = s.request;
    s.state.store(kFree, std::memory_order_release);
    any = true;
    // Who faults while it has the turn does not give it up before the fault is served.
    if (!request.doubt && turn_.held_by(request.thread)) {
      work_(request);
      continue;
    }
    const std::scoped_lock lock(turn_);
    work_(request);
  }
  return any;
}

}  // namespace nuna::adsm
