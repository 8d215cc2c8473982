#pragma once
// HostPins: host memory that the cards' copy engines may read and write, registered when it is first used so.
//
// Pinning takes long and holds the pages, so only memory is pinned that Nuna manages (manage()), and of it only what takes part
// in a copy. A Pin keeps its pages registered while copies use them; before pages are given back to the system, forget() waits
// for such copies and unregisters the pages, or the engines would go on writing to pages that nobody sees.
//
// Registrations never overlap. What would need a part of one that is in use, or spreads thinly over much memory, is not pinned:
// the caller takes such bytes through a block of its own.
//
// Threads: any. Failure: none; what the system does not let us pin is told once and not pinned.

#include <absl/container/btree_map.h>

#include <cstddef>
#include <memory>

#include "base/mutex.hpp"
#include "nuna/box.hpp"

namespace nuna::device::cuda {

class Card;

class HostPins {
 public:
  /// `card`: whose context registers; the registrations hold for all.
  explicit HostPins(Card& card) : card_(card) {}
  ~HostPins();
  HostPins(const HostPins&) = delete;
  HostPins& operator=(const HostPins&) = delete;

  /// Whole pages that may be pinned from now on.
  void manage(std::byte* first, Index bytes) NUNA_EXCLUDES(mutex_);
  /// Ends what manage() or pin() did for these pages, after the copies that use them.
  void forget(std::byte* first, Index bytes) NUNA_EXCLUDES(mutex_);
  void unmanage(std::byte* first) NUNA_EXCLUDES(mutex_);

  bool manages(const std::byte* at) NUNA_EXCLUDES(mutex_);

  /// Keeps its memory pinned while it lives.
  using Pin = std::shared_ptr<const void>;
  /// A pin of [first, first + span), of which `used` bytes will be copied; null if it cannot be had.
  Pin pin(const std::byte* first, Index span, Index used) NUNA_EXCLUDES(mutex_);

 private:
  struct Registration;
  using Registrations = absl::btree_map<Index, std::shared_ptr<Registration>>;  // by address

  bool is_managed(Interval pages) const NUNA_REQUIRES(mutex_);
  Registrations::iterator first_meeting(Index address) NUNA_REQUIRES(mutex_);
  void wait_and_drop(Interval pages) NUNA_EXCLUDES(mutex_);

  Card& card_;
  base::Mutex mutex_;
  absl::btree_map<Index, Index> managed_ NUNA_GUARDED_BY(mutex_);  // begin -> end
  Registrations registered_ NUNA_GUARDED_BY(mutex_);
  bool refused_ NUNA_GUARDED_BY(mutex_) = false;
};

}  // namespace nuna::device::cuda
