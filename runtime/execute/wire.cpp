#include "execute/wire.hpp"

#include <algorithm>
#include <span>

#include "base/check.hpp"
#include "base/failure.hpp"
#include "base/log.hpp"
#include "base/worker_thread.hpp"
#include "nuna/error.hpp"

namespace nuna::execute {

using base::MutexLock;
using base::RankId;
using base::Ticket;

namespace {

constexpr std::size_t kMostIdleBytes = std::size_t{256} << 20;
constexpr std::size_t kMostOnTheirWay = 64;  // sends
constexpr route::Step kOneMessage{0, route::Kind::packed, 0, 0};

using Clock = std::chrono::steady_clock;

transfer::Pieces in_memory(std::span<std::byte> bytes) {
  device::Region region;
  region.first = bytes.data();
  region.run_bytes = static_cast<Index>(bytes.size());
  return {{base::kHostPlace, region}};
}

bool all_done(const Tickets& tickets) {
  return std::all_of(tickets.begin(), tickets.end(), [](const Ticket& t) { return t.done(); });
}

std::string rank_text(RankId r) { return "rank " + std::to_string(r.value); }

}  // namespace

Wire::Wire(const Config& config, cluster::Communicator& communicator, transfer::Carrier& carrier,
           base::Doorbell& bell, trace::Stats& stats, trace::Recorder* recorder)
    : communicator_(communicator),
      carrier_(carrier),
      bell_(bell),
      stats_(stats),
      recorder_(recorder),
      config_(config),
      sent_(bell, communicator.polled()),
      received_(bell, communicator.polled()) {
  if (recorder_ != nullptr) {
    send_track_ = recorder_->track(communicator_.rank(), trace::TrackKind::wire, "sends");
    receive_track_ = recorder_->track(communicator_.rank(), trace::TrackKind::wire, "receives");
  }
  communicator_.set_bell(&bell_);
  communicator_.watch(&busy_since_);
  using Drivers = base::Doorbell::Drivers;
  const bool own_thread = communicator_.driver() == cluster::Driver::any_thread;
  if (communicator_.polled())
    bell_.set_driver(own_thread ? Drivers::workers : Drivers::program, [this] { return drive(); });
  if (own_thread) thread_ = base::start_worker("wire", [this] { communicator_.polled() ? poll() : loop(); });
}

Wire::~Wire() {
  if (thread_.joinable()) {
    stop_.store(true);
    wake();
    thread_.join();
  } else {
    base::check(idle() || may_drive(), "messages are left to a thread that may not call MPI");
    bell_.wait([this] { return idle(); });
  }
  bell_.set_driver(base::Doorbell::Drivers::none);
  communicator_.watch(nullptr);
  communicator_.set_bell(nullptr);
}

bool Wire::may_drive() const {
  return communicator_.driver() != cluster::Driver::main_thread || std::this_thread::get_id() == creator_;
}

bool Wire::drive() {
  if (!may_drive()) return false;
  if (idle()) {
    show_life();
    return false;
  }
  busy_since_.store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed);
  const bool moved = step();
  busy_since_.store(0, std::memory_order_relaxed);
  if (!moved) {
    look_at_peer();
    show_life();
  }
  return moved;
}

// Wakes the wire's thread, or gives what was submitted a first push.
void Wire::wake() {
  if (!thread_.joinable()) {
    bell_.drive();
  } else if (communicator_.polled()) {
    submitted_.ring();
  } else {
    bell_.ring();
  }
}

std::unique_ptr<Packet> Wire::packet(Index bytes) {
  const auto size = static_cast<std::size_t>(bytes);
  const MutexLock lock(mutex_);
  const auto fits =
      std::find_if(idle_.begin(), idle_.end(), [&](const auto& p) { return p->capacity() >= size; });
  std::unique_ptr<Packet> packet;
  if (fits == idle_.end()) {
    packet = std::make_unique<Packet>();
  } else {
    packet = std::move(*fits);
    idle_.erase(fits);
    idle_bytes_ -= packet->capacity();
  }
  packet->resize(size);
  return packet;
}

void Wire::recycle(std::unique_ptr<Packet> packet) {
  constexpr std::size_t kKept = 64;
  const MutexLock lock(mutex_);
  if (idle_.size() >= kKept || idle_bytes_ + packet->capacity() > kMostIdleBytes) return;
  idle_bytes_ += packet->capacity();
  idle_.push_back(std::move(packet));
}

Ticket Wire::submit(Outgoing out) {
  const std::uint64_t value = ++last_send_;
  out.value = value;
  const bool ready = all_done(out.after);
  if (transfer::Carrier::takes_pieces(out.way)) with_pieces_.fetch_add(1);
  {
    const MutexLock lock(mutex_);
    outgoing_.push_back(std::move(out));
    submissions_.fetch_add(1);
  }
  if (ready && may_drive()) bell_.drive();  // at once: perhaps nobody comes by for long
  wake();
  return {&sent_, value};
}

Ticket Wire::send(RankId to, cluster::Envelope envelope, std::unique_ptr<Packet> packet,
                  const Tickets& after) {
  const transfer::Pieces pieces = in_memory(*packet);
  const auto bytes = static_cast<Index>(packet->size());
  return submit(
      {to, std::move(envelope), pieces, kOneMessage, bytes, std::move(packet), after, 0, nullptr, nullptr});
}

Ticket Wire::send(RankId to, cluster::Envelope envelope, transfer::Pieces pieces, const route::Step& way,
                  const Tickets& after) {
  const Index bytes = transfer::bytes_of(pieces);
  return submit(
      {to, std::move(envelope), std::move(pieces), way, bytes, nullptr, after, 0, nullptr, nullptr});
}

Ticket Wire::receive(RankId from, const cluster::Envelope& expected, transfer::Pieces pieces,
                     const route::Step& way, const Tickets& after) {
  Incoming in;
  in.from = from;
  in.expected = expected;
  in.bytes = transfer::bytes_of(pieces);
  in.pieces = std::move(pieces);
  in.way = way;
  in.after = after;
  in.value = ++last_receive_;
  if (transfer::Carrier::takes_pieces(in.way)) with_pieces_.fetch_add(1);
  {
    const MutexLock lock(mutex_);
    incoming_.push_back(std::move(in));
    submissions_.fetch_add(1);
  }
  wake();
  return {&received_, last_receive_};
}

// References into a deque stay valid while others are pushed behind; only this thread pops.
Wire::Outgoing* Wire::outgoing(std::size_t index) {
  const MutexLock lock(mutex_);
  return index < outgoing_.size() ? &outgoing_[index] : nullptr;
}
Wire::Incoming* Wire::incoming(std::size_t index) {
  const MutexLock lock(mutex_);
  return index < incoming_.size() ? &incoming_[index] : nullptr;
}

namespace {

void set_failure(cluster::Envelope& envelope, const std::exception_ptr& failure) {
  envelope.failure = base::text_of(failure);
  try {
    std::rethrow_exception(failure);
  } catch (const Error& e) {
    envelope.failure_code = e.code();
  } catch (...) {
    envelope.failure_code = ErrorCode::kernel_failed;
  }
}

}  // namespace

bool Wire::start_send() {
  if (started_ >= kMostOnTheirWay) return false;
  Outgoing* out = outgoing(started_);
  if (out == nullptr || !all_done(out->after)) return false;
  for (const Ticket& t : out->after) {
    if (!out->failure) out->failure = t.failure();
  }
  if (out->failure) set_failure(out->envelope, out->failure);
  try {
    const trace::Span span(recorder_, send_track_, out->envelope.call, trace::Category::send,
                           {.bytes = out->bytes,
                            .sequence = out->envelope.sequence,
                            .flow = trace::flow_id(config_.context_id, communicator_.rank(), out->to,
                                                   out->envelope.sequence, out->envelope.message)});
    out->sending = carrier_.send(out->to, out->envelope, out->pieces, out->way);
    stats_.moved(trace::Route::send, out->bytes);
  } catch (...) {
    if (!out->failure) out->failure = std::current_exception();
  }
  ++started_;
  return true;
}

// Whether the send is over, well or not.
bool Wire::sent(Outgoing& out) {
  if (out.sending == nullptr) return true;
  try {
    if (!out.sending->test()) return false;
  } catch (...) {
    if (!out.failure) out.failure = std::current_exception();
  }
  out.sending.reset();
  return true;
}

std::exception_ptr Wire::lost() const {
  if (!is_lost_.load(std::memory_order_relaxed)) return nullptr;
  const MutexLock lock(mutex_);
  return lost_;
}

void Wire::note_loss(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const Error& e) {
    if (e.code() != ErrorCode::diverged && e.code() != ErrorCode::stalled) return;
  } catch (...) {
    return;
  }
  const MutexLock lock(mutex_);
  if (lost_ == nullptr) lost_ = failure;
  is_lost_.store(true, std::memory_order_relaxed);
}

bool Wire::complete_send() {
  if (started_ == 0) return false;
  Outgoing* out = outgoing(0);
  if (!sent(*out)) return false;
  if (out->packet != nullptr) recycle(std::move(out->packet));
  const std::uint64_t value = out->value;
  std::exception_ptr failure = std::move(out->failure);
  if (transfer::Carrier::takes_pieces(out->way)) with_pieces_.fetch_sub(1);
  {
    const MutexLock lock(mutex_);
    outgoing_.pop_front();
    submissions_.fetch_sub(1);
  }
  --started_;
  if (failure) note_loss(failure);
  if (failure) sent_.fail(value, std::move(failure));
  sent_.complete(value);
  tell_sent();
  return true;
}

void Wire::compare(const Incoming& in, RankId me) {
  const cluster::Envelope& got = in.receive->envelope();
  const cluster::Envelope& want = in.expected;
  if (got.sequence != want.sequence || got.hash != want.hash || got.message != want.message) {
    throw Error(ErrorCode::diverged, rank_text(me) + " made call " + std::to_string(want.sequence) + ", " +
                                         want.call + ", but " + rank_text(in.from) + " made call " +
                                         std::to_string(got.sequence) + ", " + got.call +
                                         ": every rank must make the same calls in the same order");
  }
  if (!got.failure.empty()) {
    throw Error(got.failure_code, got.failure + " (on " + rank_text(in.from) + ")");
  }
}

// Receives are posted in the order of submission, which is the order in which their peers send.
bool Wire::post_receive() {
  Incoming* in = incoming(posted_);
  if (in == nullptr || !all_done(in->after)) return false;
  if (recorder_ != nullptr) in->begin_ns = recorder_->now_ns();
  if (!in->refused) {
    try {
      in->receive = carrier_.receive(in->from, in->expected, in->pieces, in->way);
    } catch (...) {
      in->refused = std::current_exception();
    }
  }
  ++posted_;
  return true;
}

// Whether the receive is over, well or not.
bool Wire::arrived(Incoming& in) const {
  if (in.refused) return all_done(in.after);  // who used the memory before goes first all the same
  if (in.receive == nullptr) return false;
  try {
    return in.receive->test();
  } catch (...) {
    in.refused = std::current_exception();
    return true;
  }
}

bool Wire::step_receive() {
  Incoming* in = incoming(0);
  if (in == nullptr || !arrived(*in)) return false;
  std::exception_ptr failure = in->refused;
  if (!failure) {
    try {
      compare(*in, communicator_.rank());
    } catch (...) {
      failure = std::current_exception();
    }
  }
  if (!failure) stats_.moved(trace::Route::receive, in->bytes);
  if (recorder_ != nullptr) {
    recorder_->span(receive_track_, in->expected.call, trace::Category::receive, in->begin_ns,
                    recorder_->now_ns(),
                    {.bytes = in->bytes,
                     .sequence = in->expected.sequence,
                     .flow = trace::flow_id(config_.context_id, in->from, communicator_.rank(),
                                            in->expected.sequence, in->expected.message)});
  }
  in->receive.reset();
  const std::uint64_t value = in->value;
  if (transfer::Carrier::takes_pieces(in->way)) with_pieces_.fetch_sub(1);
  {
    const MutexLock lock(mutex_);
    incoming_.pop_front();
    submissions_.fetch_sub(1);
  }
  if (posted_ > 0) --posted_;
  if (Incoming* next = recorder_ != nullptr ? incoming(0) : nullptr) next->begin_ns = recorder_->now_ns();
  if (failure) note_loss(failure);
  if (failure) received_.fail(value, std::move(failure));
  received_.complete(value);
  return true;
}

bool Wire::step() {
  const std::uint64_t before = carrier_.work();
  const bool posted = post_receive();
  const bool started = start_send();
  const bool sent = complete_send();
  const bool received = step_receive();
  return posted || started || sent || received || work_ahead() || carrier_.work() != before;
}

// Messages that need work of this side go on, also behind one that has not arrived.
bool Wire::work_ahead() {
  if (with_pieces_.load(std::memory_order_relaxed) == 0) return false;
  const std::uint64_t before = carrier_.work();
  absl::InlinedVector<Outgoing*, 16> going;
  absl::InlinedVector<Incoming*, 16> coming;
  {
    const MutexLock lock(mutex_);
    for (std::size_t i = 1; i < started_; ++i) {
      if (transfer::Carrier::takes_pieces(outgoing_[i].way)) going.push_back(&outgoing_[i]);
    }
    for (std::size_t i = 1; i < posted_; ++i) {
      if (transfer::Carrier::takes_pieces(incoming_[i].way)) coming.push_back(&incoming_[i]);
    }
  }
  for (Outgoing* out : going) sent(*out);
  for (Incoming* in : coming) arrived(*in);
  return carrier_.work() != before;
}

// Sleeps until something may have happened.
void Wire::sleep() {
  const std::uint64_t before = carrier_.work();
  bell_.wait_asleep(
      [&] {
        if (work_ahead() || carrier_.work() != before) return true;
        const Outgoing* next = started_ < kMostOnTheirWay ? outgoing(started_) : nullptr;
        if (next != nullptr && all_done(next->after)) return true;
        if (started_ > 0 && sent(*outgoing(0))) return true;
        const Incoming* unposted = incoming(posted_);
        if (unposted != nullptr && all_done(unposted->after)) return true;
        Incoming* in = incoming(0);
        if (in != nullptr) return arrived(*in) || carrier_.work() != before;
        return stop_.load() && outgoing(0) == nullptr;
      },
      kLifeSign);
}

void Wire::loop() {
  while (!stop_.load() || !idle()) {
    if (drive()) continue;
    sleep();
  }
}

// The same where messages must be polled. Lanes poll while they wait and after each operation; so this thread is for the
// time in which all of them compute, and must not take much of it.
void Wire::poll() {
  constexpr std::chrono::microseconds kShortest{200};
  constexpr std::chrono::microseconds kLongest{5000};
  auto pause = kShortest;
  while (!stop_.load() || !idle()) {
    if (bell_.drive()) {
      pause = kShortest;
    } else if (idle()) {
      submitted_.wait([this] { return stop_.load() || !idle(); }, kLifeSign);
      pause = kShortest;
    } else {
      std::this_thread::sleep_for(pause);
      pause = std::min(2 * pause, kLongest);
    }
  }
}

}  // namespace nuna::execute
