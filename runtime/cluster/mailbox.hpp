#pragma once
// Messages from one rank to another inside a process: of each lane first in, first out, matched in the order of posting.
//
// A message that finds its receive posted is copied once, from the sender's memory into the receiver's; one
// that comes early is kept in a buffer of the pool. Of each lane either the messages or the receives wait.
//
// Threads: sends of a mailbox come from one thread at a time, posts and cancels too; the two sides run in
// parallel.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <span>
#include <vector>

#include "base/mutex.hpp"
#include "cluster/communicator.hpp"

namespace nuna::cluster {

/// A message that waits for its receive.
struct KeptMessage {
  Envelope envelope;
  std::vector<std::byte> bytes;
};

/// Buffers of past messages, kept for the next ones: a steady exchange allocates none. Bounded in number and
/// bytes.
class MessagePool {
 public:
  explicit MessagePool(std::size_t most_spare_bytes) : most_spare_bytes_(most_spare_bytes) {}

  /// One message, as a list to splice from; prefers a buffer that holds `bytes` without growing.
  std::list<KeptMessage> take(std::size_t bytes) NUNA_EXCLUDES(mutex_);
  void give(std::list<KeptMessage> messages) NUNA_EXCLUDES(mutex_);
  /// How often no buffer of the pool was large enough.
  std::size_t allocations() const { return allocations_.load(); }

 private:
  const std::size_t most_spare_bytes_;
  std::atomic<std::size_t> allocations_{0};
  base::Mutex mutex_;
  std::list<KeptMessage> spare_ NUNA_GUARDED_BY(mutex_);
  std::size_t spare_bytes_ NUNA_GUARDED_BY(mutex_) = 0;
};

/// A receive as the mailbox sees it. `into` stays valid until the state is no longer `waiting`, or cancel()
/// returned.
struct PostedReceive {
  enum class State { waiting, arrived, wrong_size };
  std::span<std::byte> into;
  std::uint64_t lane = 0;
  Envelope envelope;           ///< with `arrived` and `wrong_size`
  std::size_t sent_bytes = 0;  ///< with `wrong_size`
  std::atomic<State> state{State::waiting};
};

class Mailbox {
 public:
  explicit Mailbox(MessagePool& pool) : pool_(pool) {}

  /// Copies the bytes, to the receive or into the pool.
  void send(const Envelope& envelope, std::span<const std::byte> bytes) NUNA_EXCLUDES(mutex_);
  /// Bytes of messages that came before their receives.
  std::size_t kept_bytes() const { return kept_bytes_.load(std::memory_order_relaxed); }
  void post(PostedReceive& receive) NUNA_EXCLUDES(mutex_);
  /// Forgets a receive that may still be waiting; the next message goes to the one posted after it.
  void cancel(PostedReceive& receive) NUNA_EXCLUDES(mutex_);

 private:
  PostedReceive* take_receive(std::uint64_t lane) NUNA_REQUIRES(mutex_);

  MessagePool& pool_;
  std::atomic<std::size_t> kept_bytes_{0};
  base::Mutex mutex_;
  std::list<KeptMessage> messages_ NUNA_GUARDED_BY(mutex_);
  std::vector<PostedReceive*> receives_ NUNA_GUARDED_BY(mutex_);
};

}  // namespace nuna::cluster
