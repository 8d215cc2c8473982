#pragma once
// Wire: the lane of a rank's messages. One thread sends what is ready and completes receives as they arrive.
//
// Sends complete in order of submission, so do receives; the two directions do not wait for each other. The thread
// sleeps on the rank's doorbell when nothing can happen.
//
// Threads: submissions from one thread at a time. Failures: a send whose source failed carries the failure to the
// receiver instead of the bytes; a receive whose envelope does not match the expected one fails with Error (diverged),
// naming both calls.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.hpp"
#include "base/timeline.hpp"
#include "cluster/communicator.hpp"
#include "execute/instances.hpp"
#include "trace/recorder.hpp"
#include "trace/stats.hpp"

namespace nuna::execute {

/// Packed bytes of one message. Recycled.
using Packet = std::vector<std::byte>;

class Wire {
 public:
  Wire(cluster::Communicator& communicator, base::Doorbell& bell, trace::Stats& stats,
       trace::Recorder* recorder, std::uint64_t context_id);
  ~Wire();  ///< completes what was submitted
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  /// Sends the packet once `after` (its packing) is done.
  base::Ticket send(base::RankId to, cluster::Envelope envelope, std::unique_ptr<Packet> packet,
                    const Tickets& after);
  /// Receives into the packet, which must live until the ticket and its users are done.
  base::Ticket receive(base::RankId from, const cluster::Envelope& expected, Packet& packet);

  /// While one is alive, the rank waits for its own devices or messages, which is no silence: the wire's thread publishes
  /// its status now and then, so that peers in a collective do not take a long kernel for a stall.
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

  /// An unused packet of this size.
  std::unique_ptr<Packet> packet(Index bytes);
  void recycle(std::unique_ptr<Packet> packet);

 private:
  struct Outgoing {
    base::RankId to;
    cluster::Envelope envelope;
    std::unique_ptr<Packet> packet;
    Tickets after;
    std::uint64_t value = 0;
  };
  struct Incoming {
    base::RankId from;
    cluster::Envelope expected;
    std::unique_ptr<cluster::Receive> receive;
    std::exception_ptr refused;  // posting it failed already
    Index bytes = 0;
    std::uint64_t value = 0;
    std::int64_t begin_ns = 0;
  };

  void loop();
  bool send_ready(const Outgoing& out) const;
  bool step_send();
  bool step_receive();
  void check_peer();
  void show_life();
  static void compare(const Incoming& in, base::RankId me);
  Outgoing* first_outgoing() NUNA_EXCLUDES(mutex_);
  Incoming* first_incoming() NUNA_EXCLUDES(mutex_);
  void finish_send(std::exception_ptr failure);
  void finish_receive(std::exception_ptr failure);

  cluster::Communicator& communicator_;
  base::Doorbell& bell_;
  trace::Stats& stats_;
  trace::Recorder* recorder_;
  trace::TrackId send_track_;
  trace::TrackId receive_track_;
  std::uint64_t context_id_;
  base::Timeline sent_;
  base::Timeline received_;
  std::uint64_t last_send_ = 0;
  std::uint64_t last_receive_ = 0;

  base::Mutex mutex_;
  std::deque<Outgoing> outgoing_ NUNA_GUARDED_BY(mutex_);
  std::deque<Incoming> incoming_ NUNA_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<Packet>> idle_ NUNA_GUARDED_BY(mutex_);
  std::atomic<bool> stop_{false};
  std::atomic<int> waiting_{0};
  std::chrono::steady_clock::time_point shown_ = std::chrono::steady_clock::now();
  std::thread thread_;
};

}  // namespace nuna::execute
