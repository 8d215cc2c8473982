#include "device/cuda/lane.hpp"

#include <absl/container/flat_hash_map.h>

#include <algorithm>

#include "base/check.hpp"
#include "base/failure.hpp"
#include "base/worker_thread.hpp"

namespace nuna::device::cuda {

// Events that nobody names. What waits for one on a stream waits for what was recorded then, so they are used again.
struct Lane::Events {
  explicit Events(const Driver& cuda) : driver(cuda) {}
  ~Events() {
    for (CUevent event : idle) driver.cuEventDestroy(event);
  }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  CUevent take() {
    {
      const base::MutexLock lock(mutex);
      if (!idle.empty()) {
        CUevent event = idle.back();
        idle.pop_back();
        return event;
      }
    }
    CUevent event = nullptr;
    driver.check(driver.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), "cuEventCreate",
                 "to see a stream's progress");
    return event;
  }
  void give_back(CUevent event) {
    const base::MutexLock lock(mutex);
    idle.push_back(event);
  }

  const Driver& driver;
  base::Mutex mutex;
  std::vector<CUevent> idle NUNA_GUARDED_BY(mutex);
};

struct Lane::Event {
  explicit Event(std::shared_ptr<Events> pool) : events(std::move(pool)), event(events->take()) {}
  ~Event() { events->give_back(event); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  std::shared_ptr<Events> events;
  CUevent event;
};

struct Lane::Registry {
  base::Mutex mutex;
  absl::flat_hash_map<const base::Timeline*, Lane*> lanes NUNA_GUARDED_BY(mutex);
};

Lane::Registry& Lane::registry() {
  static auto* const all = new Registry;  // outlives whatever a static destructor still holds
  return *all;
}

Lane::Lane(const Config& config)
    : card_(*config.card),
      driver_(card_.driver()),
      config_(config),
      timeline_(*config.bell),
      events_(std::make_shared<Events>(driver_)) {
  const Card::Current current(card_);
  int least = 0;
  int greatest = 0;
  driver_.check(driver_.cuCtxGetStreamPriorityRange(&least, &greatest), "cuCtxGetStreamPriorityRange",
                config_.name);
  driver_.check(
      driver_.cuStreamCreateWithPriority(&stream_, CU_STREAM_NON_BLOCKING, config_.urgent ? greatest : least),
      "cuStreamCreateWithPriority", config_.name);
  Registry& all = registry();
  const base::MutexLock lock(all.mutex);
  all.lanes.emplace(&timeline_, this);
}

Lane::~Lane() {
  stop_.store(true, std::memory_order_release);
  worker_bell_.ring();
  if (worker_.joinable()) worker_.join();
  {
    Registry& all = registry();
    const base::MutexLock lock(all.mutex);
    all.lanes.erase(&timeline_);
  }
  try {
    const Card::Current current(card_);
    driver_.cuStreamDestroy(stream_);
  } catch (const Error&) {  // a broken context takes its streams along
  }
}

bool Lane::idle() const {
  const base::MutexLock lock(mutex_);
  return pending_.empty();
}

std::string Lane::running() const {
  constexpr std::size_t kMost =
      4;  // what broke is among the first: those before it are complete, though nobody has seen it
  absl::InlinedVector<std::string_view, kMost> names;
  const auto add = [&](std::string_view name) {
    if (names.size() < kMost && (names.empty() || names.back() != name)) names.push_back(name);
  };
  const base::MutexLock lock(mutex_);
  for (const Flight& flight : flights_) {
    if (flight.event != nullptr) add(flight.what.name);
  }
  if (!starting_.empty()) add(starting_);
  std::string text;
  for (const std::string_view name : names) {
    text += text.empty() ? "'" : ", '";
    text += name;
    text += "'";
  }
  return text;
}

void Lane::note_starting(std::string_view name) {
  const base::MutexLock lock(mutex_);
  starting_ = name;
}

bool Lane::in_flight() const {
  const base::MutexLock lock(mutex_);
  return !flights_.empty();
}

// The events to wait for on the stream; false when a ticket cannot be waited for there.
bool Lane::chain(After after, Waits& waits) const {
  for (const base::Ticket& ticket : after) {
    if (ticket.done()) continue;
    Registry& all = registry();
    const base::MutexLock lock(all.mutex);
    const auto lane = all.lanes.find(ticket.line);
    if (lane == all.lanes.end()) return false;
    if (lane->second == this) continue;  // in order anyway
    std::optional<EventRef> event = lane->second->event_of(ticket.value);
    if (!event) return false;
    if (*event != nullptr) waits.push_back(std::move(*event));
  }
  return true;
}

// What stands for operation `value` on the stream (null: it is complete by now); nothing while it is not there yet.
std::optional<Lane::EventRef> Lane::event_of(std::uint64_t value) const {
  const base::MutexLock lock(mutex_);
  if (value > issued_) return std::nullopt;
  // Failed ones have no event: the next that has one comes later, and the one before it comes earlier.
  EventRef before;
  for (const Flight& flight : flights_) {
    if (flight.value > value) break;
    if (flight.event != nullptr) before = flight.event;
  }
  return before;
}

std::exception_ptr Lane::failure_before(After after) const {
  for (const base::Ticket& ticket : after) {
    if (std::exception_ptr failure = ticket.failure()) return failure;
  }
  return card_.lost();
}

std::exception_ptr Lane::failure_of(const What& what, std::exception_ptr thrown) const {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& e) {
    return e.code() == ErrorCode::device_lost ? card_.lose(e, config_.name) : thrown;
  } catch (...) {
    return std::make_exception_ptr(Error(ErrorCode::kernel_failed, "kernel '" + std::string(what.name) +
                                                                       "' failed on device " + config_.name +
                                                                       ": " + base::text_of(thrown)));
  }
}

void Lane::wait_on_stream(const Waits& waits) const {
  for (const EventRef& each : waits)
    driver_.check(driver_.cuStreamWaitEvent(stream_, each->event, CU_EVENT_WAIT_DEFAULT), "cuStreamWaitEvent",
                  config_.name);
}

Lane::EventRef Lane::record() const {
  auto made = std::make_shared<Event>(events_);
  driver_.check(driver_.cuEventRecord(made->event, stream_), "cuEventRecord", config_.name);
  return made;
}

void Lane::note_issued(Flight flight, std::exception_ptr failure) {
  if (failure != nullptr) timeline_.fail(flight.value, std::move(failure));
  {
    const base::MutexLock lock(mutex_);
    issued_ = flight.value;
    starting_ = {};
    flights_.push_back(std::move(flight));
  }
  config_.keeper->ring();
}

void Lane::wait_for_worker(Pending pending) {
  if (!worker_.joinable()) worker_ = base::start_worker(config_.name, [this] { work(); });
  {
    const base::MutexLock lock(mutex_);
    pending_.push_back(std::move(pending));
  }
  worker_bell_.ring();
}

void Lane::work() {
  for (;;) {
    worker_bell_.wait_asleep([this] { return !idle() || stop_.load(std::memory_order_acquire); });
    Pending* next = nullptr;
    {
      const base::MutexLock lock(mutex_);
      if (pending_.empty()) return;
      next = &pending_.front();  // stays there, so that what follows waits behind it
    }
    Waits waits;
    while (!chain(next->after, waits)) {
      waits.clear();
      for (const base::Ticket& ticket : next->after) {
        if (ticket.done()) continue;
        Waits alone;
        if (chain(std::span(&ticket, 1), alone)) continue;
        ticket.wait();
      }
    }
    base::check(issue(next->value, next->what, next->after, waits, true, next->start),
                "an operation that may block starts");
    const base::MutexLock lock(mutex_);
    pending_.pop_front();
  }
}

bool Lane::advance() {
  std::uint64_t reached = 0;
  CUresult state = CUDA_SUCCESS;
  std::deque<Flight> done;
  {
    const base::MutexLock lock(mutex_);
    while (!flights_.empty()) {
      Flight& front = flights_.front();
      if (front.event != nullptr && !card_.is_lost()) {
        state = driver_.cuEventQuery(front.event->event);
        if (state != CUDA_SUCCESS) break;
      }
      if (card_.is_lost() && timeline_.failure(front.value) == nullptr)
        timeline_.fail(front.value, card_.lost());
      reached = front.value;
      done.push_back(std::move(front));
      flights_.pop_front();
    }
    show(flights_.empty() ? nullptr : &flights_.front());
  }
  const bool broken = state != CUDA_SUCCESS && state != CUDA_ERROR_NOT_READY;
  if (broken)
    card_.lose(driver_.failure(state, "cuEventQuery", config_.name), config_.name);  // nothing can be known
  if (done.empty()) return broken;
  done.clear();  // what they hold is released before anybody learns that they are complete
  timeline_.complete(reached);
  return true;
}

// Shows on the trace what is on, as far as the keeper sees it.
void Lane::show(const Flight* front) {
  if (config_.recorder == nullptr) return;
  if (front == nullptr) {
    span_.reset();
  } else if (front->value != shown_) {
    span_.reset();
    span_.emplace(config_.recorder, config_.track, front->what.name, front->what.category,
                  trace::Arguments{.bytes = front->what.bytes});
    shown_ = front->value;
  }
}

}  // namespace nuna::device::cuda
