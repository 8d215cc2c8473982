// Which threads of a block run next, where each has a program counter of its own (nuna_cudart/image.h). As on a GPU, those that are
// furthest behind go first, so that threads that parted meet again.

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdio>

#include "nuna_cudart/image.h"

namespace {

bool runs(std::uint32_t counter) { return counter < NUNA_ENDED; }

/// Whether lanes of the group wait for lanes that wait for them, elsewhere in the code: a GPU since Volta lets these meet.
bool wait_apart(const std::uint32_t* counters, const std::uint32_t* masks, std::uint32_t lanes,
                std::uint32_t group) {
  const std::uint32_t mask = masks[std::countr_zero(group)];
  bool apart = false;
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    if ((mask >> lane & 1u) == 0 || counters[lane] == NUNA_ENDED) continue;
    if (!runs(counters[lane]) || masks[lane] != mask) return false;
    apart |= (group >> lane & 1u) == 0;
  }
  return apart;
}

void tell_of_apart() {
  static std::atomic_flag told;
  if (told.test_and_set()) return;
  std::fputs(
      "nuna: lanes of a warp meet in different places of a kernel (a warp function in both arms of a "
      "branch): each place has its own lanes "
      "only, and results differ from a GPU's. Call the function behind the branch.\n",
      stderr);
}

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

std::uint32_t __nuna_pick_lanes(const std::uint32_t* counters, const std::uint32_t* masks,
                                std::uint32_t lanes, std::uint32_t* group) {
  std::uint32_t alive = 0;
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    if (counters[lane] != NUNA_ENDED) alive |= 1u << lane;
  }
  std::uint32_t incomplete = NUNA_NO_REGION;
  std::uint32_t incomplete_group = 0;
  // The groups from the furthest behind on: each is the lanes with the least counter above the one before.
  for (std::uint32_t above = 0;;) {
    std::uint32_t counter = NUNA_ENDED;
    std::uint32_t together = 0;
    std::uint32_t awaited = 0;
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      if (counters[lane] < above || counters[lane] > counter || !runs(counters[lane])) continue;
      if (counters[lane] < counter) {
        counter = counters[lane];
        together = 0;
        awaited = masks[lane];
      }
      together |= 1u << lane;
    }
    if (!runs(counter)) break;
    if ((awaited & alive & ~together) == 0) {
      *group = together;
      return counter;
    }
    if (incomplete == NUNA_NO_REGION) {
      incomplete = counter;
      incomplete_group = together;
    }
    above = counter + 1;
  }
  if (incomplete != NUNA_NO_REGION && wait_apart(counters, masks, lanes, incomplete_group)) tell_of_apart();
  *group = incomplete_group;
  return incomplete;
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
