#pragma once
// Mover: copies between the places of one rank, by the way that is best for them (D9).
//
//   direct   the target's device copies from where the bytes are (or the source's, if the CPU cannot read there)
//   staged   through blocks of pinned host memory: the source's device fills one while the target's device empties another
//
// A way between two places is proved when it is first used: a pattern of 64 KiB is sent through it, which takes a fraction of a
// millisecond, and must arrive whole and not far slower than the description promises. A way that does not is replaced by
// another, with one line; where no other is left, the copy is refused.
//
// Threads: submissions from one thread at a time, as to the devices. Ownership: as device.hpp; the mover outlives what it has
// submitted. Staging blocks are taken in turn, each after its former user (a ticket), so nobody waits for a free one.
// Failures: prove() throws Error (unsupported) when no way is left; submissions do not throw.

#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/boxes.hpp"
#include "base/injection.hpp"
#include "base/timeline.hpp"
#include "device/device.hpp"
#include "transfer/staging.hpp"
#include "transfer/ways.hpp"

namespace nuna::transfer {

class Mover {
 public:
  /// `proof_bytes`: at the beginning of every place, nobody else's.
  struct Config {
    Index proof_bytes = 0;
    base::Injection injection;
    std::chrono::nanoseconds patience = std::chrono::seconds(2);  ///< for a proof that does not arrive
  };
  Mover(Config config, std::vector<device::Device*> device_of_place, Ways& ways, Staging& staging)
      : config_(config), devices_(std::move(device_of_place)), ways_(ways), staging_user_(staging) {}

  /// Finds a way that works, if none was found before. Waits for earlier work of both devices.
  void prove(base::PlaceId from, base::PlaceId to);

  /// One part of a copy: as many bytes on both sides.
  struct Part {
    device::Region to;
    device::Region from;
  };
  /// The way for a copy of so many bytes; parts of staged ones have at most chunk_bytes bytes.
  route::Step way(base::PlaceId from, base::PlaceId to, Index bytes) const {
    return ways_.between(from, to, bytes).value_or(route::Step{});
  }
  /// Copies the parts. The ticket is done when all are.
  base::Ticket copy(base::PlaceId to, base::PlaceId from, const std::vector<Part>& parts,
                    const route::Step& way, device::After after);

 private:
  struct Slot {
    Block block;
    base::Ticket last;  // its last user
  };

  device::Device& at(base::PlaceId p) const { return *devices_[static_cast<std::size_t>(p.value)]; }
  std::string try_way(base::PlaceId from, base::PlaceId to, const route::Step& way);
  std::string measure(base::PlaceId from, base::PlaceId to, const route::Step& way, bool& arrived);
  base::Ticket staged(base::PlaceId to, base::PlaceId from, const std::vector<Part>& parts, int blocks,
                      device::After after);
  Slot& next_slot(int blocks);
  bool arrives(const base::Ticket& ticket, const route::Step& way) const;

  const Config config_;
  const std::vector<device::Device*> devices_;
  Ways& ways_;
  Staging::User staging_user_;
  std::vector<Slot> slots_;
  std::size_t turn_ = 0;
  std::set<std::pair<base::PlaceId, base::PlaceId>> proved_;
};

}  // namespace nuna::transfer
