#pragma once
// The memory behind a host device's address range: committed, accounted, given back.

#include <cstddef>
#include <functional>
#include <string>

#include "base/mutex.hpp"
#include "device/page_ledger.hpp"

namespace nuna::device::host {

/// Any thread. commit() throws nuna::Error (out_of_memory) and changes nothing when the limit or the machine is
/// exhausted.
class PlaceMemory {
 public:
  enum class Backing {
    anonymous,      ///< private mapping, closed where nothing is committed
    shared,         ///< shared writable mapping, of a memfd or anonymous; always open, pages appear with use
    closed_shared,  ///< shared mapping, closed where nothing is committed
  };

  using BeforeGivingBack = std::function<void(std::byte* first, Index bytes)>;

  /// [base, base + range_bytes) is reserved by the caller, who unmaps it after this object's end.
  PlaceMemory(std::string owner, std::byte* base, std::size_t range_bytes, std::size_t limit_bytes,
              Backing backing, BeforeGivingBack before_giving_back = nullptr);

  void commit(Interval bytes) NUNA_EXCLUDES(mutex_);
  /// Does not throw. Pages that the system does not take back stay held, with one warning.
  void release(Interval bytes) NUNA_EXCLUDES(mutex_);
  /// Bytes of the pages held now.
  std::size_t held_bytes() const NUNA_EXCLUDES(mutex_);

 private:
  void open(const PageLedger::Ranges& pages, Interval wanted) NUNA_REQUIRES(mutex_);
  bool give_back(Interval pages) NUNA_REQUIRES(mutex_);
  [[noreturn]] void refuse(Interval wanted, const std::string& why) const NUNA_REQUIRES(mutex_);

  const std::string owner_;  // the device's name, for messages
  std::byte* const base_;
  const Interval range_;
  const std::size_t limit_bytes_;
  const Backing backing_;
  const BeforeGivingBack before_giving_back_;
  mutable base::Mutex mutex_;
  PageLedger ledger_ NUNA_GUARDED_BY(mutex_);
};

}  // namespace nuna::device::host
