#include "cluster/mpi/peers.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "base/log.hpp"
#include "base/worker_thread.hpp"

namespace nuna::cluster::mpi {
namespace {

using Clock = std::chrono::steady_clock;

// A peer is first asked what it does after so long at most, and then this often.
constexpr std::chrono::nanoseconds kAskAfter = std::chrono::seconds(1);
constexpr std::chrono::milliseconds kAskLimit{500};

}  // namespace

Peers::Peers(int me, std::vector<Address> addresses, std::uint64_t context, std::chrono::nanoseconds stall)
    : me_(me),
      addresses_(std::move(addresses)),
      context_(context),
      ask_after_(std::min(kAskAfter, stall / 2)),
      known_(addresses_.size()) {
  thread_ = base::start_worker("nuna-asks", [this] { work(); });
}

Peers::~Peers() {
  {
    const base::MutexLock lock(mutex_);
    stop_ = true;
    wake_.notify_all();
  }
  thread_.join();
}

void Peers::watch(const std::atomic<std::int64_t>* busy_since) {
  const base::MutexLock lock(mutex_);
  busy_since_ = busy_since;
}

bool Peers::stuck() const {
  constexpr std::chrono::seconds kLongest{3};
  if (busy_since_ == nullptr) return false;
  const std::chrono::nanoseconds since(busy_since_->load(std::memory_order_relaxed));
  return since.count() != 0 && Clock::now().time_since_epoch() - since > kLongest;
}

void Peers::end_if_lost() const {
  constexpr std::size_t kMostAsked = 64;
  for (std::size_t r = 0; r < addresses_.size() && r < kMostAsked; ++r) {
    if (static_cast<int>(r) == me_) continue;
    const auto answer = ask(addresses_[r], context_, kAskLimit);
    if (!answer || !answer->gone) continue;
    base::log(base::LogLevel::error, "cluster", base::RankId{me_},
              "rank " + std::to_string(r) + " is lost (its process " + std::to_string(addresses_[r].process) +
                  " has ended), and MPI does not return from moving messages: this process ends");
    std::fflush(nullptr);
    ::_exit(EXIT_FAILURE);
  }
}

std::optional<Answer> Peers::answer_of(int rank) {
  const base::MutexLock lock(mutex_);
  Known& k = known_[static_cast<std::size_t>(rank)];
  const auto now = Clock::now();
  if (now - k.wondered > 2 * kAskAfter) k.since = now;  // nobody wondered lately: a new wait
  k.wondered = now;
  if (now - k.since < ask_after_ || now - k.asked < ask_after_ || k.wanted) return k.answer;
  k.wanted = true;
  wake_.notify_all();
  return k.answer;
}

std::optional<Answer> Peers::ask_now(int rank) const {
  return ask(addresses_[static_cast<std::size_t>(rank)], context_, kAskLimit);
}

Status Peers::status_of(int rank) const {
  const base::MutexLock lock(mutex_);
  const auto& answer = known_[static_cast<std::size_t>(rank)].answer;
  if (!answer) return {};
  const Called* last = answer->history.last();
  return last == nullptr
             ? Status{0, 0, "", answer->left, answer->sent, answer->signs}
             : Status{last->sequence, last->hash, last->call, answer->left, answer->sent, answer->signs};
}

void Peers::work() {
  while (const auto rank = next_wanted()) {
    std::optional<Answer> answer = ask(addresses_[*rank], context_, kAskLimit);
    const base::MutexLock lock(mutex_);
    Known& k = known_[*rank];
    k.wanted = false;
    k.asked = Clock::now();
    if (answer) k.answer = std::move(answer);
  }
}

// Sleeps until there is somebody to ask; nothing at the end.
std::optional<std::size_t> Peers::next_wanted() {
  base::MutexLock lock(mutex_);
  while (!stop_) {
    for (std::size_t r = 0; r < known_.size(); ++r) {
      if (known_[r].wanted) return r;
    }
    if (stuck()) end_if_lost();  // nobody else gets ahead then
    lock.wait_for(wake_, std::chrono::seconds(1));
  }
  return std::nullopt;
}

}  // namespace nuna::cluster::mpi
