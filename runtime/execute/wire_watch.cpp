// What a wire does beside moving messages: it wonders about peers that are silent or lost, and shows signs of its own life.
#include "execute/wire.hpp"

#include <algorithm>
#include <memory>
#include <string>

#include "base/log.hpp"
#include "nuna/error.hpp"

namespace nuna::execute {

using base::MutexLock;
using base::RankId;

namespace {

using Clock = std::chrono::steady_clock;

std::string rank_text(RankId r) { return "rank " + std::to_string(r.value); }

}  // namespace

// A peer that made other calls will never send what we wait for; one that has not come to the call yet may be stuck.
void Wire::look_at_peer() {
  const auto now = Clock::now();
  if (now - looked_ < kLifeSign) return;
  looked_ = now;
  if (started_ > 0) look_at_receiver(*outgoing(0));
  Incoming* in = incoming(0);
  if (in == nullptr || in->refused) return;
  if (const auto difference = communicator_.difference_with(in->from, in->expected)) {
    in->refused = std::make_exception_ptr(Error(ErrorCode::diverged, *difference));
    looked_ = {};  // what else waits for that peer is refused at once
    return;
  }
  const cluster::Status theirs = communicator_.status_of(in->from);
  const bool comes = theirs.sequence >= in->expected.sequence;
  const std::uint64_t signs = comes ? ~std::uint64_t{0} : theirs.signs;
  if (!in->watch) in->watch.emplace(config_.stall, now, signs);
  if (comes)
    return look_for_lost(*in, theirs);  // it made the call: the bytes are being computed, or were sent
  const auto verdict = in->watch->judge(now, signs);
  if (verdict == cluster::StallWatch::Verdict::fine) return;
  const std::string text = rank_text(communicator_.rank()) + " waits in " + in->expected.call +
                           " for a message of " + rank_text(in->from) + ", whose last call is " +
                           (theirs.last_call.empty() ? "none yet" : theirs.last_call);
  if (verdict == cluster::StallWatch::Verdict::slow) {
    base::log(base::LogLevel::warn, "wire", communicator_.rank(), text);
  } else {
    communicator_.give_up();
    in->refused = std::make_exception_ptr(
        Error(ErrorCode::stalled, text + ": let every rank make the same calls, or raise NUNA_STALL"));
  }
}

// A message that has gone and does not come, although we have been ready for it all the time, is lost.
void Wire::look_for_lost(Incoming& in, const cluster::Status& theirs) {
  if (in.receive == nullptr || theirs.sent < in.expected.sequence) return;
  const auto now = Clock::now();
  if (in.gone == Clock::time_point{} || in.work != carrier_.work()) {
    in.gone = now;  // something still arrives
    in.work = carrier_.work();
  }
  if (now - in.gone < config_.stall / 2 && !is_lost_.load()) return;  // where one is lost, others are
  looked_ = {};                                                       // what comes next is looked at at once
  in.refused = std::make_exception_ptr(
      Error(ErrorCode::stalled,
            rank_text(in.from) + " has sent its message in " + in.expected.call + ", and " +
                rank_text(communicator_.rank()) +
                " has not got all of it: the network lost it; use another transport, or other routes "
                "(NUNA_ROUTES)"));
}

// A receiver that is lost, or made other calls, will never take its message. A packet that was handed to the communicator
// stays in memory for good: the network may still look at it.
void Wire::look_at_receiver(Outgoing& out) {
  if (out.sending == nullptr) return;
  const auto difference = communicator_.difference_with(out.to, out.envelope);
  if (!difference) return;
  out.failure = std::make_exception_ptr(Error(ErrorCode::diverged, *difference));
  looked_ = {};
  out.sending.release();  // NOLINT(bugprone-unused-return-value)
  out.packet.release();   // NOLINT(bugprone-unused-return-value)
}

void Wire::show_life() {
  if (waiting_.load() == 0) return;
  const auto now = Clock::now();
  if (now - shown_ < kLifeSign) return;
  shown_ = now;
  communicator_.show_life();
}

void Wire::submitted_through(std::uint64_t sequence) {
  through_.store(sequence);
  if (idle()) return communicator_.note_sent(sequence);  // no lock for launches without messages
  tell_sent();
}

// What was submitted is asked before what is left of it: so nothing is told of too early.
void Wire::tell_sent() {
  std::uint64_t gone = through_.load();
  {
    const MutexLock lock(mutex_);
    if (!outgoing_.empty()) gone = std::min(gone, outgoing_.front().envelope.sequence - 1);
  }
  communicator_.note_sent(gone);
}

}  // namespace nuna::execute
