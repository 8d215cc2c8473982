#include "transfer/staging.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/log.hpp"
#include "base/units.hpp"
#include "nuna/error.hpp"

namespace nuna::transfer {

Block::~Block() {
  if (pool_ != nullptr) pool_->give_back(first_);
}

void Staging::Unmap::operator()(std::byte* first) const {
  if (watcher->going) watcher->going(first);
  ::munmap(first, static_cast<std::size_t>(kBlockBytes));
}

Staging::Staging(Index bytes, const base::Injection& injection, Watcher watcher)
    : most_(static_cast<int>(std::clamp<Index>(bytes / kBlockBytes, 1, 1 << 20))),
      injection_(injection),
      watcher_(std::move(watcher)) {}

// Blocks of messages that were given up stay: the network may still look at them.
Staging::~Staging() {
  const base::MutexLock lock(mutex_);
  for (auto& block : all_) {
    const bool idle = std::find(idle_.begin(), idle_.end(), block.get()) != idle_.end();
    if (!idle) block.release();  // NOLINT(bugprone-unused-return-value)
  }
}

int Staging::blocks() const {
  const base::MutexLock lock(mutex_);
  return static_cast<int>(all_.size());
}

bool Staging::pinned() const {
  const base::MutexLock lock(mutex_);
  return pinned_;
}

void Staging::join() {
  const base::MutexLock lock(mutex_);
  ++users_;
}

void Staging::leave() {
  const base::MutexLock lock(mutex_);
  --users_;
}

Block Staging::take(int held) {
  const base::MutexLock lock(mutex_);
  const int in_use = static_cast<int>(all_.size() - idle_.size());
  const int share = std::max(1, most_ / std::max(1, users_));
  if (held > 0 && (held >= share || in_use >= most_)) return {};
  if (idle_.empty()) return {this, make()};
  std::byte* const first = idle_.back();
  idle_.pop_back();
  return {this, first};
}

void Staging::give_back(std::byte* first) {
  const base::MutexLock lock(mutex_);
  if (static_cast<int>(all_.size()) > most_) {  // it was made beyond the bound
    std::erase_if(all_, [&](const auto& block) { return block.get() == first; });
    return;
  }
  idle_.push_back(first);
}

std::byte* Staging::make() {
  constexpr auto kBytes = static_cast<std::size_t>(kBlockBytes);
  void* const at =
      ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (at == MAP_FAILED) {
    throw Error(ErrorCode::out_of_memory, "no memory for a staging block of " +
                                              base::print_bytes(kBlockBytes) + ": free memory on this node");
  }
  const bool refused = injection_.has("staged", base::Fault::refused);
  if (refused || ::mlock(at, kBytes) != 0) {
    const std::string why = refused ? "injected" : std::generic_category().message(errno);
    if (pinned_) {
      base::log(
          base::LogLevel::info, "transfer", std::nullopt,
          "staging memory is not locked (" + why + "): raise the limit (ulimit -l) if devices copy slowly");
    }
    pinned_ = false;
  }
  if (watcher_.made) watcher_.made(static_cast<std::byte*>(at), kBlockBytes);
  all_.emplace_back(static_cast<std::byte*>(at), Unmap{&watcher_});
  return all_.back().get();
}

}  // namespace nuna::transfer
