#include "device/cuda/host_pins.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <iterator>
#include <thread>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "base/units.hpp"
#include "device/cuda/card.hpp"

namespace nuna::device::cuda {
namespace {

constexpr Index kThinBytes = Index{1} << 20;  // less is pinned however thinly it is used
constexpr Index kThinness = 4;                // more is not, if less than one byte in so many is used

Index address_of(const std::byte* p) { return static_cast<Index>(reinterpret_cast<std::uintptr_t>(p)); }
void* pointer_of(Index address) {
  return reinterpret_cast<void*>(address);
}  // NOLINT(performance-no-int-to-ptr)

Interval whole_pages(const std::byte* first, Index bytes) {
  static const Index page = sysconf(_SC_PAGESIZE);
  const Index begin = address_of(first) / page * page;
  return {begin, (address_of(first) + bytes + page - 1) / page * page};
}

}  // namespace

struct HostPins::Registration {
  Registration(Card& owner, Interval range) : card(owner), pages(range) {}
  ~Registration() {
    try {
      const Card::Current current(card);
      const CUresult result = card.driver().cuMemHostUnregister(pointer_of(pages.begin));
      if (result != CUDA_SUCCESS && !card.is_lost())
        base::warn_once("unpin", card.driver().failure(result, "cuMemHostUnregister", "host memory").what());
    } catch (const Error&) {  // a broken context: the process is about to end
    }
  }
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;

  Card& card;
  Interval pages;
};

HostPins::~HostPins() { wait_and_drop({0, std::numeric_limits<Index>::max()}); }

void HostPins::manage(std::byte* first, Index bytes) {
  const base::MutexLock lock(mutex_);
  managed_[address_of(first)] = address_of(first) + bytes;
}

void HostPins::unmanage(std::byte* first) {
  Interval range;
  {
    const base::MutexLock lock(mutex_);
    const auto known = managed_.find(address_of(first));
    if (known == managed_.end()) return;
    range = {known->first, known->second};
    managed_.erase(known);
  }
  wait_and_drop(range);
}

void HostPins::forget(std::byte* first, Index bytes) { wait_and_drop(whole_pages(first, bytes)); }

HostPins::Registrations::iterator HostPins::first_meeting(Index address) {
  auto next = registered_.upper_bound(address);
  if (next == registered_.begin()) return next;
  const auto before = std::prev(next);
  return before->second->pages.end > address ? before : next;
}

bool HostPins::is_managed(Interval pages) const {
  const auto after = managed_.upper_bound(pages.begin);
  return after != managed_.begin() && pages.end <= std::prev(after)->second;
}

bool HostPins::manages(const std::byte* at) {
  const base::MutexLock lock(mutex_);
  return is_managed({address_of(at), address_of(at) + 1});
}

HostPins::Pin HostPins::pin(const std::byte* first, Index span, Index used) {
  Interval pages = whole_pages(first, span);
  const base::MutexLock lock(mutex_);
  auto meeting = first_meeting(pages.begin);
  if (meeting != registered_.end() && meeting->second->pages.contains(pages)) return meeting->second;
  if (refused_ || (span > kThinBytes && used < span / kThinness)) return nullptr;
  if (!is_managed(pages)) return nullptr;
  // Those that it meets melt into it, unless a copy uses them.
  for (auto met = meeting; met != registered_.end() && met->first < pages.end; ++met) {
    if (met->second.use_count() > 1) return nullptr;
    pages = {std::min(pages.begin, met->second->pages.begin), std::max(pages.end, met->second->pages.end)};
  }
  for (auto met = meeting; met != registered_.end() && met->first < pages.end;) met = registered_.erase(met);
  const Card::Current current(card_);
  const CUresult result =
      card_.driver().cuMemHostRegister(pointer_of(pages.begin), static_cast<std::size_t>(pages.size()),
                                       CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP);
  // The program has pinned a part of it: that part it may also unpin, so this is not ours to use.
  if (result == CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED) return nullptr;
  if (result != CUDA_SUCCESS) {
    refused_ = true;  // once is enough: pinning is for speed only
    base::warn_once("pin",
                    "host memory is not pinned any more, so copies will be slower: the system refused " +
                        base::print_bytes(pages.size()) + " (cuMemHostRegister: " +
                        card_.driver().name_of(result) + "); raise the limit on locked memory (ulimit -l)");
    return nullptr;
  }
  return registered_.emplace(pages.begin, std::make_shared<Registration>(card_, pages)).first->second;
}

// Copies that hold a pin are on their way and end by themselves.
void HostPins::wait_and_drop(Interval pages) {
  for (;;) {
    {
      const base::MutexLock lock(mutex_);
      bool busy = false;
      for (auto met = first_meeting(pages.begin); met != registered_.end() && met->first < pages.end;) {
        if (met->second.use_count() > 1) {
          busy = true;
          ++met;
        } else {
          met = registered_.erase(met);
        }
      }
      if (!busy) return;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
}

}  // namespace nuna::device::cuda
