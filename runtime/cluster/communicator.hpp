#pragma once
// The communicator boundary: what Nuna needs of a network.
//
// A Communicator belongs to one Context and one rank; it connects ranks 0..size()-1 of that Context and nothing else
// (messages of two Contexts never mix). Messages between two ranks are matched in the order in which they were sent
// (planned transfers are sent and received in the same order on both sides, D5); the tag is compared, not searched
// for, so ranks that made different calls are found at the first planned message (D2). What two ends exchange beside the
// plan (answers, chunks of one message) goes in lanes of its own, each in order.
//
// Threads: those that driver() names may call anything; calls for the same peer and direction come from one thread at a time.
// Memory: bytes handed to send() and receive() must stay until it is done.
// Progress: an implementation whose bell rings for everything needs no polling; with one that says polled(), messages
// move only while somebody calls test().
// Failures: a peer that left, failed or diverged is nuna::Error (diverged, stalled), never a hang.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "base/timeline.hpp"
#include "nuna/error.hpp"

namespace nuna::cluster {

/// What a planned message says about its sender, compared by the receiver before a byte is used.
struct Envelope {
  std::uint64_t sequence = 0;  ///< number of the call in its Context
  std::uint64_t hash = 0;      ///< running hash of all calls up to this one
  std::uint32_t message = 0;   ///< number of the message within the call
  std::uint64_t lane =
      0;                ///< zero for planned messages; only messages of one lane are matched with each other
  std::string call;     ///< the call with its call site, for the report: "launch 'heat' at heat.cpp:31"
  std::string failure;  ///< not empty: the data could not be produced, and why
  ErrorCode failure_code = ErrorCode::kernel_failed;
};

/// Which threads may move messages.
enum class Driver : std::uint8_t {
  any_thread,       ///< also one of Nuna's own, while the program computes
  calling_threads,  ///< the program's, one at a time, while they are inside a call
  main_thread,      ///< the one that initialised the network, while it is inside a call
};

/// A send in flight. Destroying one that is not done gives it up.
class Sending {
 public:
  virtual ~Sending() = default;
  /// True once the bytes may be reused. A receiver that is slow to take its messages holds it back in the end.
  virtual bool test() = 0;
};

/// A receive in flight. Destroying one that is not done cancels it.
class Receive {
 public:
  virtual ~Receive() = default;
  /// True once the bytes and the envelope have arrived. Throws nuna::Error when they never will.
  virtual bool test() = 0;
  /// The sender's envelope; after test() returned true.
  virtual const Envelope& envelope() const = 0;
};

/// What a rank tells its peers about itself, for the report of a stall.
struct Status {
  std::uint64_t sequence = 0;
  std::uint64_t hash = 0;
  std::string last_call;
  bool left = false;        ///< its Context is gone
  std::uint64_t sent = 0;   ///< its messages of all calls up to this one have gone (note_sent)
  std::uint64_t signs = 0;  ///< that it has shown of its life: calls, and waiting; as known by now
};

class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual base::RankId rank() const = 0;
  virtual int size() const = 0;

  /// Starts to send `bytes` to `to`; never waits for the receiver. With a failure in the envelope the bytes mean nothing.
  virtual std::unique_ptr<Sending> send(base::RankId to, const Envelope& envelope,
                                        std::span<const std::byte> bytes) = 0;
  /// Receives the next message from `from`, which must be exactly `into.size()` bytes: another size is reported as
  /// Error (diverged) with both calls. `expected` is what its envelope should be.
  virtual std::unique_ptr<Receive> receive(base::RankId from, const Envelope& expected,
                                           std::span<std::byte> into) = 0;

  /// Every rank's bytes, in rank order, to every rank. Collective, blocking; the envelopes must agree in sequence,
  /// hash and message, otherwise Error (diverged) names the first rank that differs, with both calls.
  virtual std::vector<std::vector<std::byte>> allgather(const Envelope& envelope,
                                                        std::span<const std::byte> bytes) = 0;

  /// Publishes this rank's status and reads a peer's (as last known). Neither throws.
  virtual void publish(const Status& status) = 0;
  virtual Status status_of(base::RankId rank) const = 0;
  /// This rank's messages of all calls up to `sequence` have gone, as far as it can tell: who waits for one of them in vain
  /// learns that it was lost.
  virtual void note_sent(std::uint64_t sequence) { static_cast<void>(sequence); }
  /// A sign of life: this rank waits, too.
  virtual void show_life() {}
  /// Why no message for call `expected` will ever come from `from`, as far as is known by now. For who waits; asked now
  /// and then, it may find out more the next time. Does not throw.
  virtual std::optional<std::string> difference_with(base::RankId from, const Envelope& expected) = 0;

  /// `busy_since`: the steady clock's nanoseconds when somebody entered send(), receive() or test(), zero while nobody is
  /// inside. A network that may never return when a peer is lost looks at it, and ends the process. Null ends that.
  virtual void watch(const std::atomic<std::int64_t>* busy_since) { static_cast<void>(busy_since); }
  /// A wait that nothing will end: the process must not wait for the peers when it ends.
  virtual void give_up() {}

  /// Who may call send(), receive(), allgather() and test().
  virtual Driver driver() const { return Driver::any_thread; }
  /// Whether messages move only while somebody tests.
  virtual bool polled() const { return false; }
  /// Rings whenever a message has arrived, or a peer has left. Set once, before the first receive.
  virtual void set_bell(base::Doorbell* bell) = 0;
};

}  // namespace nuna::cluster
