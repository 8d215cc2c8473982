#include "execute/wire.hpp"

#include <algorithm>

#include "base/failure.hpp"
#include "base/worker_thread.hpp"
#include "nuna/error.hpp"

namespace nuna::execute {

using base::MutexLock;
using base::RankId;
using base::Ticket;

namespace {

constexpr std::chrono::milliseconds kLifeSign{200};

std::string rank_text(RankId r) { return "rank " + std::to_string(r.value); }

}  // namespace

Wire::Wire(cluster::Communicator& communicator, base::Doorbell& bell, trace::Stats& stats,
           trace::Recorder* recorder, std::uint64_t context_id)
    : communicator_(communicator),
      bell_(bell),
      stats_(stats),
      recorder_(recorder),
      context_id_(context_id),
      sent_(bell),
      received_(bell) {
  if (recorder_ != nullptr) {
    send_track_ = recorder_->track(communicator_.rank(), trace::TrackKind::wire, "sends");
    receive_track_ = recorder_->track(communicator_.rank(), trace::TrackKind::wire, "receives");
  }
  communicator_.set_bell(&bell_);
  thread_ = base::start_worker("wire", [this] { loop(); });
}

Wire::~Wire() {
  stop_.store(true);
  bell_.ring();
  thread_.join();
  communicator_.set_bell(nullptr);
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
  }
  packet->resize(size);
  return packet;
}

void Wire::recycle(std::unique_ptr<Packet> packet) {
  constexpr std::size_t kKept = 64;
  const MutexLock lock(mutex_);
  if (idle_.size() < kKept) idle_.push_back(std::move(packet));
}

Ticket Wire::send(RankId to, cluster::Envelope envelope, std::unique_ptr<Packet> packet,
                  const Tickets& after) {
  const std::uint64_t value = ++last_send_;
  {
    const MutexLock lock(mutex_);
    outgoing_.push_back({to, std::move(envelope), std::move(packet), after, value});
  }
  bell_.ring();
  return {&sent_, value};
}

Ticket Wire::receive(RankId from, const cluster::Envelope& expected, Packet& packet) {
  Incoming in;
  in.from = from;
  in.expected = expected;
  in.bytes = static_cast<Index>(packet.size());
  in.value = ++last_receive_;
  if (recorder_ != nullptr) in.begin_ns = recorder_->now_ns();
  try {
    in.receive = communicator_.receive(from, packet);
  } catch (...) {
    in.refused = std::current_exception();
  }
  {
    const MutexLock lock(mutex_);
    incoming_.push_back(std::move(in));
  }
  bell_.ring();
  return {&received_, last_receive_};
}

// References into a deque stay valid while others are pushed behind; only this thread pops.
Wire::Outgoing* Wire::first_outgoing() {
  const MutexLock lock(mutex_);
  return outgoing_.empty() ? nullptr : &outgoing_.front();
}
Wire::Incoming* Wire::first_incoming() {
  const MutexLock lock(mutex_);
  return incoming_.empty() ? nullptr : &incoming_.front();
}

bool Wire::send_ready(const Outgoing& out) const {
  return std::all_of(out.after.begin(), out.after.end(), [](const Ticket& t) { return t.done(); });
}

void Wire::finish_send(std::exception_ptr failure) {
  std::uint64_t value = 0;
  {
    const MutexLock lock(mutex_);
    value = outgoing_.front().value;
    outgoing_.pop_front();
  }
  if (failure) sent_.fail(value, std::move(failure));
  sent_.complete(value);
}

void Wire::finish_receive(std::exception_ptr failure) {
  std::uint64_t value = 0;
  {
    const MutexLock lock(mutex_);
    value = incoming_.front().value;
    incoming_.pop_front();
  }
  if (failure) received_.fail(value, std::move(failure));
  received_.complete(value);
}

bool Wire::step_send() {
  Outgoing* out = first_outgoing();
  if (out == nullptr || !send_ready(*out)) return false;
  std::exception_ptr failure;
  for (const Ticket& t : out->after) {
    if (!failure) failure = t.failure();
  }
  if (failure) out->envelope.failure = base::text_of(failure);
  try {
    const trace::Span span(recorder_, send_track_, out->envelope.call, trace::Category::send,
                           {.bytes = static_cast<std::int64_t>(out->packet->size()),
                            .sequence = out->envelope.sequence,
                            .flow = trace::flow_id(context_id_, communicator_.rank(), out->to,
                                                   out->envelope.sequence, out->envelope.message)});
    communicator_.send(out->to, out->envelope, *out->packet);
    stats_.moved(trace::Route::send, static_cast<std::int64_t>(out->packet->size()));
  } catch (...) {
    if (!failure) failure = std::current_exception();
  }
  recycle(std::move(out->packet));
  finish_send(failure);
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
    throw Error(ErrorCode::kernel_failed, got.failure + " (on " + rank_text(in.from) + ")");
  }
}

bool Wire::step_receive() {
  Incoming* in = first_incoming();
  if (in == nullptr) return false;
  std::exception_ptr failure = in->refused;
  if (!failure) {
    try {
      if (!in->receive->test()) return false;
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
                     .flow = trace::flow_id(context_id_, in->from, communicator_.rank(),
                                            in->expected.sequence, in->expected.message)});
  }
  in->receive.reset();
  finish_receive(failure);
  return true;
}

// A peer whose last call has our number but another hash will never send what we wait for.
void Wire::check_peer() {
  Incoming* in = first_incoming();
  if (in == nullptr || in->refused) return;
  const cluster::Status theirs = communicator_.status_of(in->from);
  if (theirs.sequence != in->expected.sequence || theirs.hash == in->expected.hash) return;
  in->refused = std::make_exception_ptr(
      Error(ErrorCode::diverged, rank_text(communicator_.rank()) + " made call " +
                                     std::to_string(in->expected.sequence) + ", " + in->expected.call +
                                     ", but " + rank_text(in->from) + " made " + theirs.last_call +
                                     " instead: every rank must make the same calls in the same order"));
}

void Wire::show_life() {
  const auto now = std::chrono::steady_clock::now();
  if (waiting_.load() == 0 || now - shown_ < kLifeSign) return;
  shown_ = now;
  communicator_.publish(communicator_.status_of(communicator_.rank()));
}

void Wire::loop() {
  for (;;) {
    while (step_send() || step_receive()) {
    }
    const bool idle = first_outgoing() == nullptr && first_incoming() == nullptr;
    if (idle && stop_.load()) return;
    const bool woken = bell_.wait(
        [this] {
          const Outgoing* out = first_outgoing();
          if (out != nullptr && send_ready(*out)) return true;
          Incoming* in = first_incoming();
          if (in == nullptr) return stop_.load() && out == nullptr;
          if (in->refused) return true;
          try {
            return in->receive->test();
          } catch (...) {
            in->refused = std::current_exception();
            return true;
          }
        },
        kLifeSign);
    if (!woken) check_peer();
    show_life();
  }
}

}  // namespace nuna::execute
