#pragma once
// Staging: a bounded pool of blocks of host memory through which bytes pass that cannot go directly (HPE, section 2.4).
//
// Blocks are made when they are first wanted: populated, and locked in memory as far as RLIMIT_MEMLOCK allows, because DMA
// engines and network cards need memory that stays. What cannot be locked is used all the same, with one line.
//
// Never a deadlock: a transfer that holds no block gets one in any case, if need be beyond the bound; so every transfer
// can proceed, block by block. Fair: of the others nobody holds more than its share of the pool.
//
// Threads: any. Ownership: a Block goes back to its pool when it dies; the pool outlives its blocks, but for those that are given up
// for good.

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/injection.hpp"
#include "base/mutex.hpp"
#include "nuna/box.hpp"

namespace nuna::transfer {

class Staging;

class Block {
 public:
  Block() = default;
  Block(Block&& other) noexcept : pool_(std::exchange(other.pool_, nullptr)), first_(other.first_) {}
  Block& operator=(Block&& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(first_, other.first_);
    return *this;
  }
  ~Block();
  explicit operator bool() const { return pool_ != nullptr; }
  std::byte* data() const { return first_; }

 private:
  friend class Staging;
  Block(Staging* pool, std::byte* first) : pool_(pool), first_(first) {}
  Staging* pool_ = nullptr;
  std::byte* first_ = nullptr;
};

class Staging {
 public:
  static constexpr Index kBlockBytes = Index{1} << 20;
  /// Told of blocks that are made, and that are about to go.
  struct Watcher {
    std::function<void(std::byte* first, Index bytes)> made;
    std::function<void(std::byte* first)> going;
  };
  /// `bytes`: the bound, at least one block.
  explicit Staging(Index bytes, const base::Injection& injection = {}, Watcher watcher = {});
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  /// What one transfer holds, from its first block to its last.
  class User {
   public:
    explicit User(Staging& pool) : pool_(pool) { pool_.join(); }
    ~User() { pool_.leave(); }
    User(const User&) = delete;
    User& operator=(const User&) = delete;
    /// A block, or an empty one: wait for one of yours. `held`: how many of its blocks are still alive.
    Block take(int held) { return pool_.take(held); }

   private:
    Staging& pool_;
  };

  /// Blocks that exist: never more than the bound and one for each user.
  int blocks() const NUNA_EXCLUDES(mutex_);
  /// Whether all of them are locked in memory.
  bool pinned() const NUNA_EXCLUDES(mutex_);

 private:
  friend class Block;
  struct Unmap {
    const Watcher* watcher;
    void operator()(std::byte* first) const;
  };

  void join() NUNA_EXCLUDES(mutex_);
  void leave() NUNA_EXCLUDES(mutex_);
  Block take(int held) NUNA_EXCLUDES(mutex_);
  void give_back(std::byte* first) NUNA_EXCLUDES(mutex_);
  std::byte* make() NUNA_REQUIRES(mutex_);

  const int most_;
  const base::Injection injection_;
  const Watcher watcher_;
  mutable base::Mutex mutex_;
  std::vector<std::unique_ptr<std::byte, Unmap>> all_ NUNA_GUARDED_BY(mutex_);
  std::vector<std::byte*> idle_ NUNA_GUARDED_BY(mutex_);
  int users_ NUNA_GUARDED_BY(mutex_) = 0;
  bool pinned_ NUNA_GUARDED_BY(mutex_) = true;
};

}  // namespace nuna::transfer
