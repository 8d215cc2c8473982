#include "cluster/mailbox.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace nuna::cluster {
namespace {

constexpr std::size_t kMostSpareMessages = 64;  // also bounds the search for one of the right size

void deliver(PostedReceive& receive, Envelope envelope, std::span<const std::byte> bytes) {
  using State = PostedReceive::State;
  receive.envelope = std::move(envelope);
  receive.sent_bytes = bytes.size();
  // A failure is news of its own, whatever bytes come with it.
  const bool fits = bytes.size() == receive.into.size();
  if (fits && !bytes.empty()) std::memcpy(receive.into.data(), bytes.data(), bytes.size());
  const bool arrived = fits || !receive.envelope.failure.empty();
  receive.state.store(arrived ? State::arrived : State::wrong_size, std::memory_order_release);
}

}  // namespace

std::list<KeptMessage> MessagePool::take(std::size_t bytes) {
  std::list<KeptMessage> taken;
  {
    const base::MutexLock lock(mutex_);
    if (!spare_.empty()) {
      auto best = std::find_if(spare_.begin(), spare_.end(),
                               [&](const KeptMessage& m) { return m.bytes.capacity() >= bytes; });
      if (best == spare_.end()) --best;
      spare_bytes_ -= best->bytes.capacity();
      taken.splice(taken.end(), spare_, best);
    }
  }
  if (taken.empty()) taken.emplace_back();
  if (taken.front().bytes.capacity() < bytes) {
    allocations_.fetch_add(1, std::memory_order_relaxed);
    taken.front().bytes = std::vector<std::byte>();  // nothing worth copying into the larger one
  }
  return taken;
}

void MessagePool::give(std::list<KeptMessage> messages) {
  const base::MutexLock lock(mutex_);
  while (!messages.empty()) {
    const std::size_t bytes = messages.front().bytes.capacity();
    if (spare_.size() >= kMostSpareMessages || spare_bytes_ + bytes > most_spare_bytes_) return;
    spare_bytes_ += bytes;
    spare_.splice(spare_.begin(), messages, messages.begin());  // the warmest in front
  }
}

PostedReceive* Mailbox::take_receive(std::uint64_t lane) {
  const auto first =
      std::find_if(receives_.begin(), receives_.end(), [&](const PostedReceive* r) { return r->lane == lane; });
  if (first == receives_.end()) return nullptr;
  PostedReceive* const taken = *first;
  receives_.erase(first);
  return taken;
}

void Mailbox::send(const Envelope& envelope, std::span<const std::byte> bytes) {
  {
    const base::MutexLock lock(mutex_);
    if (PostedReceive* const first = take_receive(envelope.lane)) {
      deliver(*first, envelope, bytes);
      return;
    }
  }
  // Early, it seems: the copy is made without the lock, so that the receiver is not kept from posting.
  std::list<KeptMessage> kept = pool_.take(bytes.size());
  kept.front().envelope = envelope;
  kept.front().bytes.assign(bytes.begin(), bytes.end());
  {
    const base::MutexLock lock(mutex_);
    PostedReceive* const first = take_receive(envelope.lane);
    if (first == nullptr) {
      kept_bytes_.fetch_add(bytes.size(), std::memory_order_relaxed);
      messages_.splice(messages_.end(), kept);
      return;
    }
    deliver(*first, envelope, bytes);
  }
  pool_.give(std::move(kept));
}

void Mailbox::post(PostedReceive& receive) {
  std::list<KeptMessage> taken;
  {
    const base::MutexLock lock(mutex_);
    const auto first = std::find_if(messages_.begin(), messages_.end(), [&](const KeptMessage& m) {
      return m.envelope.lane == receive.lane;
    });
    if (first == messages_.end()) {
      receives_.push_back(&receive);
      return;
    }
    taken.splice(taken.end(), messages_, first);
    kept_bytes_.fetch_sub(taken.front().bytes.size(), std::memory_order_relaxed);
  }
  deliver(receive, std::move(taken.front().envelope), taken.front().bytes);
  pool_.give(std::move(taken));
}

void Mailbox::cancel(PostedReceive& receive) {
  if (receive.state.load(std::memory_order_acquire) != PostedReceive::State::waiting) return;
  const base::MutexLock lock(mutex_);  // also waits for a delivery in progress
  const auto found = std::find(receives_.begin(), receives_.end(), &receive);
  if (found != receives_.end()) receives_.erase(found);
}

}  // namespace nuna::cluster
