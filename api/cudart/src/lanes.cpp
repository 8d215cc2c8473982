// Which threads of a block run next, where each has a program counter of its own (nuna_cudart/image.h). As on a GPU, those that are
// furthest behind go first, so that threads that parted meet again.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "nuna_cudart/image.h"

namespace {

using Lanes = std::uint32_t;  ///< a bit a lane

constexpr std::uint32_t kMostLanes = 32;
constexpr auto kBits = [] {
  std::array<Lanes, kMostLanes> bits{};
  for (std::uint32_t lane = 0; lane < kMostLanes; ++lane) bits[lane] = 1u << lane;
  return bits;
}();

bool runs(std::uint32_t counter) { return counter < NUNA_ENDED; }
bool has_met(std::uint32_t counter) { return runs(counter) && (counter & NUNA_MET) != 0; }

template <class Visit>
void for_lanes(Lanes lanes, Visit visit) {
  for (; lanes != 0; lanes &= lanes - 1) visit(static_cast<std::uint32_t>(std::countr_zero(lanes)));
}

/// Visits all lanes: whole warps by loops that compilers make vector instructions of.
template <class Visit>
void for_first(std::uint32_t lanes, Visit visit) {
  if (lanes == kMostLanes) {
    for (std::uint32_t lane = 0; lane < kMostLanes; ++lane) visit(lane);
  } else {
    for (std::uint32_t lane = 0; lane < lanes; ++lane) visit(lane);
  }
}

/// Who runs next, and whom they have met.
struct Pick {
  Lanes run = 0;
  Lanes met = 0;
};

/// A warp whose lanes wait for each other.
class Warp {
 public:
  Warp(std::uint32_t* counters, std::uint32_t* masks, const std::uint8_t* kinds, std::uint32_t lanes)
      : counters_(counters), masks_(masks), kinds_(kinds), lanes_(lanes) {}

  /// Nobody, if all wait for the block or have ended.
  Pick pick() {
    for_first(lanes_, [&](std::uint32_t lane) { alive_ |= counters_[lane] != NUNA_ENDED ? kBits[lane] : 0; });
    const Place first = next_place(0);
    // Those at one place are, mostly, all that they wait for.
    for (Place place = first; runs(place.counter) && !has_met(place.counter);
         place = next_place(place.counter + 1)) {
      if ((place.awaited & alive_ & ~place.lanes) == 0) return {place.lanes, place.lanes};
    }
    if (!runs(first.counter)) return {};
    const Lanes ready = find_ready();
    const Lanes run = ready != 0 ? furthest_behind(ready) : meet(alike(first.lanes));
    return {run, release(run)};
  }

 private:
  struct Place {
    std::uint32_t counter = NUNA_ENDED;
    Lanes lanes = 0;
    Lanes awaited = 0;  ///< by some of them
  };

  /// Where the least counter is that is not below `from`; those that have met come last.
  Place next_place(std::uint32_t from) const {
    Place place;
    for_first(lanes_, [&](std::uint32_t lane) {
      const std::uint32_t counter = counters_[lane];
      place.counter = counter >= from ? std::min(place.counter, counter) : place.counter;
    });
    for_first(lanes_, [&](std::uint32_t lane) {
      const bool here = counters_[lane] == place.counter;
      place.lanes |= here ? kBits[lane] : 0;
      place.awaited |= here ? masks_[lane] : 0;
    });
    return place;
  }

  /// The lanes that may go on.
  Lanes find_ready() {
    Lanes waiting = 0;
    for_lanes(alive_, [&](std::uint32_t lane) {
      if (!runs(counters_[lane])) return;
      (has_met(counters_[lane]) ? met_ : waiting) |= kBits[lane];
    });
    Lanes ready = met_;
    for_lanes(met_, [&](std::uint32_t lane) { together_[lane] = masks_[lane]; });
    while (waiting != 0) {
      const Lanes same = alike(waiting);
      waiting &= ~same;
      if ((masks_[std::countr_zero(same)] & alive_ & ~same) == 0) ready |= meet(same);
    }
    return ready;
  }

  Lanes furthest_behind(Lanes among) const {
    std::uint32_t least = NUNA_ENDED;
    Lanes found = 0;
    for_lanes(among, [&](std::uint32_t lane) {
      if (counters_[lane] < least) found = 0;
      if (counters_[lane] <= least) found |= kBits[lane];
      least = std::min(least, counters_[lane]);
    });
    return found;
  }

  /// What lanes wait for: of a mask and a kind, or of a place.
  std::uint64_t awaited_by(std::uint32_t lane) const {
    return masks_[lane] != 0 ? std::uint64_t{masks_[lane]} << 32 | kinds_[counters_[lane]] : counters_[lane];
  }
  /// Those that wait for the same as the first of them.
  Lanes alike(Lanes among) const {
    const auto first = awaited_by(static_cast<std::uint32_t>(std::countr_zero(among)));
    Lanes same = 0;
    for_lanes(among, [&](std::uint32_t lane) { same |= awaited_by(lane) == first ? kBits[lane] : 0; });
    return same;
  }
  Lanes meet(Lanes lanes) {
    for_lanes(lanes, [&](std::uint32_t lane) { together_[lane] = lanes; });
    return lanes;
  }

  /// Whom these have met. Those of them that are elsewhere will go on from there.
  Lanes release(Lanes run) {
    Lanes all = 0;
    for_lanes(run, [&](std::uint32_t lane) { all |= together_[lane]; });
    for_lanes(run & ~met_, [&](std::uint32_t lane) {
      for_lanes(together_[lane] & ~run & ~met_, [&](std::uint32_t other) {
        counters_[other] |= NUNA_MET;
        masks_[other] = together_[other];
        met_ |= kBits[other];
      });
    });
    return all;
  }

  std::uint32_t* counters_;
  std::uint32_t* masks_;
  const std::uint8_t* kinds_;
  const std::uint32_t lanes_;
  Lanes alive_ = 0;
  Lanes met_ = 0;
  std::array<Lanes, kMostLanes> together_;  ///< of lanes that are ready: with whom they may go on
};

}  // namespace

extern "C" {

std::uint32_t __nuna_pick_threads(const std::uint32_t* counters, std::uint32_t threads, std::uint32_t* all) {
  std::uint32_t first = NUNA_ENDED;  // waiting counters are larger
  std::uint32_t last = 0;
  for (std::uint32_t i = 0; i < threads; ++i) {
    first = std::min(first, counters[i]);
    last = std::max(last, counters[i]);
  }
  *all = first == last ? 1 : 0;
  return runs(first) ? first : NUNA_NO_REGION;
}

std::uint32_t __nuna_pick_lanes(std::uint32_t* counters, std::uint32_t* masks, const std::uint8_t* kinds,
                                std::uint32_t lanes, std::uint32_t* run, std::uint32_t* met) {
  const Pick pick = Warp(counters, masks, kinds, lanes).pick();
  if (pick.run == 0) return NUNA_NO_REGION;
  *run = pick.run;
  *met = pick.met;
  return counters[std::countr_zero(pick.run)] & ~NUNA_MET;
}

std::uint32_t __nuna_next_round(std::uint32_t* counters, std::uint32_t threads) {
  std::uint32_t some = 0;
  for (std::uint32_t i = 0; i < threads; ++i) {
    const std::uint32_t waits = counters[i] >> 31;
    some |= waits;
    counters[i] &= waits != 0 ? ~NUNA_WAITS : ~std::uint32_t{0};
  }
  return some;
}

}  // extern "C"
