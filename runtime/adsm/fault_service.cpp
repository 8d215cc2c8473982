#include "adsm/fault_service.hpp"

#include <chrono>
#include <mutex>
#include <utility>

#include "adsm/futex.hpp"
#include "base/worker_thread.hpp"

namespace nuna::adsm {
namespace {

constexpr std::chrono::seconds kLong(1);

}  // namespace

FaultService::FaultService(base::Turn& turn, std::function<void(const Request&)> work)
    : turn_(turn), work_(std::move(work)) {
  waiting_.thread = base::start_worker("nuna-faults", [this] {
    serve(waiting_, [this](const Request& r) {
      const std::scoped_lock lock(turn_);
      work_(r);
    });
  });
  standing_.thread = base::start_worker("nuna-faults-in", [this] { serve(standing_, work_); });
}

FaultService::~FaultService() {
  stopping_.store(true);
  for (Queue* const q : {&waiting_, &standing_}) {
    q->posts.fetch_add(1);
    wake_all(q->posts);
    q->thread.join();
  }
}

// Who faults while it has the turn does not give it up before the fault is served.
bool FaultService::post(const Request& request) noexcept {
  Queue& queue = !request.doubt && turn_.held_by(std::this_thread::get_id()) ? standing_ : waiting_;
  for (Slot& s : queue.slots) {
    std::uint32_t expected = kFree;
    if (!s.state.compare_exchange_strong(expected, kFilling, std::memory_order_acquire)) continue;
    s.request = request;
    s.state.store(kPosted, std::memory_order_release);
    queue.posts.fetch_add(1, std::memory_order_release);
    wake_all(queue.posts);
    return true;
  }
  return false;
}

template <class F>
void FaultService::serve(Queue& queue, F work) {
  while (!stopping_.load()) {
    const std::uint32_t seen = queue.posts.load(std::memory_order_acquire);
    bool any = false;
    for (Slot& s : queue.slots) {
      if (s.state.load(std::memory_order_acquire) != kPosted) continue;
      const Request request = s.request;
      s.state.store(kFree, std::memory_order_release);
      any = true;
      work(request);
    }
    if (!any && !stopping_.load()) sleep_while(queue.posts, seen, kLong);
  }
}

}  // namespace nuna::adsm
