#include "device/host/place_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

#include "base/check.hpp"
#include "base/log.hpp"
#include "base/units.hpp"
#include "nuna/error.hpp"

namespace nuna::device::host {

PlaceMemory::PlaceMemory(std::string owner, std::byte* base, std::size_t range_bytes, std::size_t limit_bytes,
                         Backing backing, BeforeGivingBack before_giving_back)
    : owner_(std::move(owner)),
      base_(base),
      range_{0, static_cast<Index>(range_bytes)},
      limit_bytes_(limit_bytes),
      backing_(backing),
      before_giving_back_(std::move(before_giving_back)),
      ledger_(sysconf(_SC_PAGESIZE)) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  base::check(
      base != nullptr && reinterpret_cast<std::uintptr_t>(base) % page == 0 && range_bytes % page == 0,
      "a place's range is made of pages");
}

void PlaceMemory::commit(Interval bytes) {
  if (bytes.empty()) return;
  base::check(range_.contains(bytes), "committed bytes lie in the device's range");
  const base::MutexLock lock(mutex_);
  const PageLedger::Ranges pages = ledger_.missing(bytes);
  if (static_cast<std::size_t>(ledger_.held_bytes() + total(pages)) > limit_bytes_) {
    refuse(bytes, "use smaller buffers or more devices, or raise NUNA_MEMORY_LIMIT");
  }
  if (backing_ != Backing::shared) open(pages, bytes);
  ledger_.commit(bytes);
}

void PlaceMemory::release(Interval bytes) {
  if (bytes.empty()) return;
  base::check(range_.contains(bytes), "released bytes lie in the device's range");
  const base::MutexLock lock(mutex_);
  for (const Interval& pages : ledger_.freed(bytes)) {
    if (!give_back(pages)) return;
  }
  ledger_.release(bytes);
}

std::size_t PlaceMemory::held_bytes() const {
  const base::MutexLock lock(mutex_);
  return static_cast<std::size_t>(ledger_.held_bytes());
}

void PlaceMemory::open(const PageLedger::Ranges& pages, Interval wanted) {
  for (std::size_t i = 0; i < pages.size(); ++i) {
    const auto size = static_cast<std::size_t>(pages[i].size());
    if (mprotect(base_ + pages[i].begin, size, PROT_READ | PROT_WRITE) == 0) continue;
    const int error = errno;
    for (std::size_t j = 0; j <= i; ++j) {  // a call that failed may have opened its first pages
      mprotect(base_ + pages[j].begin, static_cast<std::size_t>(pages[j].size()), PROT_NONE);
    }
    refuse(wanted, std::string("the system refused it (") + std::generic_category().message(error) +
                       "): free memory, or lower NUNA_MEMORY_LIMIT to what the system grants");
  }
}

bool PlaceMemory::give_back(Interval pages) {
  if (before_giving_back_) before_giving_back_(base_ + pages.begin, pages.size());
  const bool shared = backing_ != Backing::anonymous;
  const auto size = static_cast<std::size_t>(pages.size());
  // Of shared memory, only a hole frees anything: other mappings of it may exist.
  if (madvise(base_ + pages.begin, size, shared ? MADV_REMOVE : MADV_DONTNEED) != 0) {
    base::warn_once("give back " + owner_, "device " + owner_ + " cannot give " +
                                               base::print_bytes(pages.size()) + " back to the system (" +
                                               std::generic_category().message(errno) +
                                               "): do not lock the process's memory (mlockall)");
    return false;
  }
  // Closed again, so that a use after release faults at once. A failure here costs nothing but that.
  if (backing_ != Backing::shared) mprotect(base_ + pages.begin, size, PROT_NONE);
  return true;
}

void PlaceMemory::refuse(Interval wanted, const std::string& why) const {
  throw Error(ErrorCode::out_of_memory,
              "device " + owner_ + " is out of memory: wanted " + base::print_bytes(wanted.size()) + ", " +
                  base::print_bytes(ledger_.held_bytes()) + " of " +
                  base::print_bytes(static_cast<Index>(limit_bytes_)) + " in use; " + why);
}

}  // namespace nuna::device::host
