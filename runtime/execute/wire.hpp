#pragma once
// Wire: the lane of a rank's messages: sends what is ready and completes receives as they arrive.
//
// Sends start and complete in order of submission, so do receives complete; the two directions do not wait for each other.
// A thread of its own does it, and sleeps on the rank's doorbell when nothing can happen. Over a communicator that must be
// polled, the lanes poll as well while they wait (base::Doorbell's driver): who needs a message sees it first, and the
// wire's thread serves while all of them compute. Over a communicator that only threads of the program may
// use there is no such thread: messages move while the program submits or waits.
//
// Threads: submissions from one thread at a time. Failures: a send whose source failed carries the failure to the
// receiver instead of the bytes; a receive whose envelope does not match the expected one fails with Error (diverged),
// naming both calls, and so does one whose peer made other calls; one whose peer does not come to the call for very
// long fails with Error (stalled), after a warning (cluster/stall_watch.hpp).

#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.hpp"
#include "base/timeline.hpp"
#include "cluster/communicator.hpp"
#include "cluster/stall_watch.hpp"
#include "execute/instances.hpp"
#include "execute/packet.hpp"
#include "trace/recorder.hpp"
#include "trace/stats.hpp"
#include "transfer/carrier.hpp"

namespace nuna::execute {

class Wire {
 public:
  struct Config {
    std::uint64_t context_id = 0;    ///< for the trace
    std::chrono::nanoseconds stall;  ///< NUNA_STALL
  };
  Wire(const Config& config, cluster::Communicator& communicator, transfer::Carrier& carrier,
       base::Doorbell& bell, trace::Stats& stats, trace::Recorder* recorder);
  ~Wire();  ///< completes what was submitted; by a thread that may use the communicator
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  /// Sends the packet once `after` (its packing) is done.
  base::Ticket send(base::RankId to, cluster::Envelope envelope, std::unique_ptr<Packet> packet,
                    const Tickets& after);
  /// The same from where the bytes lie. They must stay, unchanged, until the ticket is done.
  base::Ticket send(base::RankId to, cluster::Envelope envelope, transfer::Pieces pieces,
                    const route::Step& way, const Tickets& after);
  /// Receives once `after` (the former users of the memory) is done. The memory must stay until the ticket is done.
  base::Ticket receive(base::RankId from, const cluster::Envelope& expected, transfer::Pieces pieces,
                       const route::Step& way, const Tickets& after = {});
  /// Which way messages go, and so whether they must be packets.
  const transfer::Carrier& carrier() const { return carrier_; }

  /// All messages of the calls up to `sequence` are submitted: so peers can be told when they have gone.
  void submitted_through(std::uint64_t sequence);

  /// Whether the calling thread may use the communicator: any, or only the one that made this wire.
  bool may_drive() const;
  /// The first failure that says that a rank is lost or made other calls, or null.
  std::exception_ptr lost() const NUNA_EXCLUDES(mutex_);

  /// While one is alive, the rank waits for its own devices or messages, which is no silence: who drives shows signs of life
  /// now and then, so that peers do not take a long kernel for a stall.
  class Waiting {
   public:
    explicit Waiting(Wire* wire) : wire_(wire) {
      if (wire_ != nullptr) wire_->waiting_.fetch_add(1);
    }
    ~Waiting() {
      if (wire_ != nullptr) wire_->waiting_.fetch_sub(1);
    }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    Wire* wire_;
  };

  /// An unused packet of this size, recycled, with any contents.
  std::unique_ptr<Packet> packet(Index bytes);
  void recycle(std::unique_ptr<Packet> packet);

 private:
  struct Outgoing {
    base::RankId to;
    cluster::Envelope envelope;
    transfer::Pieces pieces;
    route::Step way;
    Index bytes = 0;
    std::unique_ptr<Packet> packet;  // of the bytes, if they were packed
    Tickets after;
    std::uint64_t value = 0;
    std::unique_ptr<cluster::Sending> sending;  // started
    std::exception_ptr failure;                 // of the bytes, or of starting
  };
  struct Incoming {
    base::RankId from;
    cluster::Envelope expected;
    transfer::Pieces pieces;
    route::Step way;
    Index bytes = 0;
    Tickets after;
    std::unique_ptr<cluster::Receive> receive;  // posted
    std::exception_ptr refused;                 // posting it failed already, or nothing will come
    std::uint64_t value = 0;
    std::int64_t begin_ns = 0;
    std::optional<cluster::StallWatch> watch;    // once somebody wonders
    std::chrono::steady_clock::time_point gone;  // since when its sender says that it has gone
    std::uint64_t work = 0;                      // done until then
  };

  static constexpr std::chrono::milliseconds kLifeSign{200};  // how often it wonders, and shows itself

  void loop();
  void poll();
  bool drive();
  bool step();
  bool idle() const { return submissions_.load() == 0; }
  void wake();
  bool post_receive();
  bool start_send();
  base::Ticket submit(Outgoing out);
  bool complete_send();
  static bool sent(Outgoing& out);
  bool step_receive();
  bool arrived(Incoming& in) const;
  bool work_ahead();
  void sleep();
  void tell_sent() NUNA_EXCLUDES(mutex_);
  void look_at_peer();
  void look_for_lost(Incoming& in, const cluster::Status& theirs);
  void look_at_receiver(Outgoing& out);
  void show_life();
  void note_loss(const std::exception_ptr& failure) NUNA_EXCLUDES(mutex_);
  static void compare(const Incoming& in, base::RankId me);
  Outgoing* outgoing(std::size_t index) NUNA_EXCLUDES(mutex_);
  Incoming* incoming(std::size_t index) NUNA_EXCLUDES(mutex_);

  cluster::Communicator& communicator_;
  transfer::Carrier& carrier_;
  base::Doorbell& bell_;
  trace::Stats& stats_;
  trace::Recorder* recorder_;
  trace::TrackId send_track_;
  trace::TrackId receive_track_;
  Config config_;
  base::Timeline sent_;
  base::Timeline received_;
  std::uint64_t last_send_ = 0;
  std::uint64_t last_receive_ = 0;

  mutable base::Mutex mutex_;
  std::exception_ptr lost_ NUNA_GUARDED_BY(mutex_);
  std::atomic<bool> is_lost_{false};
  std::deque<Outgoing> outgoing_ NUNA_GUARDED_BY(mutex_);
  std::deque<Incoming> incoming_ NUNA_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<Packet>> idle_ NUNA_GUARDED_BY(mutex_);
  std::size_t idle_bytes_ NUNA_GUARDED_BY(mutex_) = 0;
  std::atomic<std::uint64_t> through_{0};  // the calls of which everything was submitted
  std::atomic<int> with_pieces_{0};        // of them, those that need work of this side
  std::atomic<int> submissions_{0};        // in outgoing_ and incoming_; lanes ask after every operation
  std::atomic<bool> stop_{false};
  std::atomic<std::int64_t> busy_since_{0};  // of who drives
  std::atomic<int> waiting_{0};
  base::Doorbell submitted_{std::chrono::nanoseconds(0)};  // where the thread sleeps that polls
  std::size_t started_ = 0;  // how many of outgoing_ are on their way; of who calls step()
  std::size_t posted_ = 0;   // how many of incoming_ are, in the order of submission; the same
  std::chrono::steady_clock::time_point shown_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point looked_ = shown_;
  const std::thread::id creator_ = std::this_thread::get_id();
  std::thread thread_;  // none: the program's drive
};

}  // namespace nuna::execute
