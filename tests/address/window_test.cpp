#include "address/window.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <functional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/check.hpp"
#include "nuna/error.hpp"

namespace nuna::address {
namespace {

constexpr base::PlaceId kDevice1{1};
constexpr base::PlaceId kDevice2{2};

std::uintptr_t number(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }
Index colour_of(const void* base) {
  return static_cast<Index>(number(base)) % kColourPeriodBytes / kPageBytes;
}

/// Runs `body` in a forked child, whose limits and mappings are its own; true if it returned true.
bool in_child(const std::function<bool()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body() ? 0 : 1);
  int status = 1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool limit_address_space(Index more_bytes) {
  std::ifstream statm("/proc/self/statm");
  Index pages = 0;
  statm >> pages;
  const auto most = static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE) + more_bytes);
  const rlimit limit{most, most};
  return setrlimit(RLIMIT_AS, &limit) == 0;
}

#if defined(NUNA_ADDRESS_TSAN) || defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true;  // shadow memory counts against limits
#elif defined(__has_feature)
constexpr bool kSanitized = __has_feature(address_sanitizer);
#else
constexpr bool kSanitized = false;
#endif

/// Both ways to place slots must behave alike.
class EitherMode : public ::testing::TestWithParam<bool> {
 protected:
  WindowOptions options() const { return {.table_mode = GetParam()}; }
};
INSTANTIATE_TEST_SUITE_P(Window, EitherMode, ::testing::Bool(),
                         [](const auto& mode) { return mode.param ? "Table" : "Fixed"; });

TEST_P(EitherMode, GivesAHostSlotAndDeviceSlotsThatHoldBytes) {
  Window window(options());
  const Slots slots = window.acquire({.owner = this, .device_places = 2});
  ASSERT_EQ(slots.places(), 3);
  EXPECT_EQ(slots.table_mode(), GetParam());
  for (int p = 0; p < 3; ++p) {
    std::byte* const base = slots.base(base::PlaceId{p});
    base[0] = std::byte{1};
    base[slots.slot_bytes() - 1] = std::byte{2};
    EXPECT_EQ(base[0], std::byte{1});
    EXPECT_EQ(base[slots.slot_bytes() - 1], std::byte{2});
    EXPECT_EQ(base[slots.slot_bytes() / 2], std::byte{0});
  }
}

TEST_P(EitherMode, BasesDifferInColour) {
  Window window(options());
  const Slots slots = window.acquire({.owner = this, .device_places = 7});
  std::set<Index> colours;
  for (int p = 0; p < 8; ++p) colours.insert(colour_of(slots.base(base::PlaceId{p})));
  EXPECT_EQ(colours.size(), 8U);
}

TEST_P(EitherMode, FindsOwnerPlaceAndOffsetOfAPointer) {
  Window window(options());
  int first = 0;
  int second = 0;
  const Slots a = window.acquire({.owner = &first, .device_places = 1});
  const Slots b = window.acquire({.owner = &second, .device_places = 2});
  EXPECT_EQ(window.find(a.base(base::kHostPlace)), (Window::Found{&first, base::kHostPlace, 0}));
  EXPECT_EQ(window.find(a.base(kDevice1) + 12345), (Window::Found{&first, kDevice1, 12345}));
  EXPECT_EQ(window.find(b.base(kDevice2) + b.slot_bytes() - 1),
            (Window::Found{&second, kDevice2, b.slot_bytes() - 1}));
  EXPECT_EQ(window.find(b.base(kDevice2) + b.slot_bytes()), std::nullopt);
  EXPECT_EQ(window.find(a.base(base::kHostPlace) - 1), std::nullopt);
  EXPECT_EQ(window.find(&first), std::nullopt);
  EXPECT_EQ(window.find(nullptr), std::nullopt);
}

TEST_P(EitherMode, TheHostSlotIsAFileThatOthersCanMap) {
  Window window(options());
  const Slots slots = window.acquire({.owner = this});
  ASSERT_GE(slots.file(base::kHostPlace), 0);
  struct stat status{};
  ASSERT_EQ(fstat(slots.file(base::kHostPlace), &status), 0);
  EXPECT_EQ(status.st_size, slots.slot_bytes());
  void* const second = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, slots.file(base::kHostPlace), 8192);
  ASSERT_NE(second, MAP_FAILED);
  std::memcpy(slots.base(base::kHostPlace) + 8192, "seen twice", 11);
  EXPECT_STREQ(static_cast<const char*>(second), "seen twice");
  munmap(second, 4096);
}

/// Whether a system call may read the byte: closed memory is refused, not a fault.
bool is_readable(const void* address) {
  int ends[2];
  if (pipe(ends) != 0) return false;
  const bool readable = write(ends[1], address, 1) == 1;
  close(ends[0]);
  close(ends[1]);
  return readable;
}

TEST_P(EitherMode, TheViewShowsTheHostSlotsBytesWhereItIsOpened) {
  Window window(options());
  Slots slots = window.acquire({.owner = this, .device_places = 1, .view = true});
  std::byte* const view = slots.view();
  ASSERT_NE(view, nullptr);
  EXPECT_EQ(slots.view(), view) << "one for all who ask";
  std::byte* const host = slots.base(base::kHostPlace);
  EXPECT_EQ(number(view) % kColourPeriodBytes, number(host) % kColourPeriodBytes);
  const Index last = slots.slot_bytes() - kPageBytes;
  for (const Index offset : {Index{0}, 5 * kPageBytes, last}) {
    host[offset + 7] = std::byte{7};
    EXPECT_FALSE(is_readable(view + offset + 7)) << "closed at first";
    ASSERT_EQ(mprotect(view + offset, kPageBytes, PROT_READ | PROT_WRITE), 0);
    EXPECT_EQ(view[offset + 7], std::byte{7});
    view[offset + 8] = std::byte{8};
    EXPECT_EQ(host[offset + 8], std::byte{8});
  }
  EXPECT_FALSE(is_readable(view + kPageBytes)) << "the others stay so";
  EXPECT_TRUE(is_readable(host + kPageBytes));
}

TEST_P(EitherMode, FindsTheViewsAddressesAsTheHostPlaces) {
  Window window(options());
  int first = 0;
  int second = 0;
  Slots a = window.acquire({.owner = &first, .device_places = 2});
  Slots b = window.acquire({.owner = &second});
  EXPECT_EQ(window.find(b.view() + 77), (Window::Found{&second, base::kHostPlace, 77}));
  EXPECT_EQ(window.find(a.view()), (Window::Found{&first, base::kHostPlace, 0}));
  EXPECT_EQ(window.find(a.view() + a.slot_bytes() - 1),
            (Window::Found{&first, base::kHostPlace, a.slot_bytes() - 1}));
  EXPECT_EQ(window.find(a.base(kDevice1) + 5), (Window::Found{&first, kDevice1, 5}))
      << "places stay what they were";
}

TEST_P(EitherMode, TheViewGoesWithItsSlots) {
  Window window(options());
  std::byte* view = nullptr;
  {
    Slots slots = window.acquire({.owner = this});
    view = slots.view();
    ASSERT_EQ(mprotect(view, kPageBytes, PROT_READ | PROT_WRITE), 0);
    view[1] = std::byte{1};
    Slots moved = std::move(slots);
    EXPECT_EQ(moved.view(), view);
    EXPECT_EQ(view[1], std::byte{1});
    Slots assigned = window.acquire({.owner = &window});
    std::byte* const other = assigned.view();
    assigned = std::move(moved);
    EXPECT_EQ(assigned.view(), view);
    EXPECT_EQ(window.find(view + 1), (Window::Found{this, base::kHostPlace, 1}));
    EXPECT_FALSE(window.find(other).has_value()) << "what was there before is given back, its view too";
  }
  EXPECT_FALSE(window.find(view).has_value());
  EXPECT_FALSE(is_readable(view));
}

TEST_P(EitherMode, ReturnsSlotsWithTheirOwner) {
  Window window(options());
  std::byte* base = nullptr;
  {
    const Slots slots = window.acquire({.owner = this});
    base = slots.base(base::kHostPlace);
    *base = std::byte{7};
    EXPECT_TRUE(window.find(base).has_value());
  }
  EXPECT_FALSE(window.find(base).has_value());
  const Slots again = window.acquire({.owner = this});
  EXPECT_EQ(*again.base(base::kHostPlace), std::byte{0});  // fresh memory, wherever it lies
}

TEST_P(EitherMode, SlotsMoveWithoutLosingTheirMemory) {
  Window window(options());
  Slots a = window.acquire({.owner = this});
  Slots b = window.acquire({.owner = &window});
  std::byte* const base = a.base(base::kHostPlace);
  *base = std::byte{9};
  b = std::move(a);
  EXPECT_EQ(b.base(base::kHostPlace), base);
  EXPECT_EQ(*base, std::byte{9});
  EXPECT_EQ(window.find(base)->owner, this);
  const Slots c = std::move(b);
  EXPECT_TRUE(window.find(base).has_value());
}

TEST_P(EitherMode, ManyThreadsAcquireFindAndReturn) {
  Window window(options());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&window, t] {
      const int owner = t;
      for (int i = 0; i < 50; ++i) {
        const Slots slots = window.acquire({.owner = &owner, .device_places = t, .peers = 4});
        std::byte* const base = slots.base(base::PlaceId{t});
        base[i] = std::byte{1};
        ASSERT_EQ(window.find(base + i), (Window::Found{&owner, base::PlaceId{t}, i}));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_P(EitherMode, SmallSlotsCanBeAskedFor) {
  Window window({.table_mode = GetParam(), .largest_slot_bytes = kSmallestSlotBytes});
  const Slots slots = window.acquire({.owner = this, .device_places = 3});
  EXPECT_LE(slots.slot_bytes(), kSmallestSlotBytes);
  EXPECT_GT(slots.slot_bytes(), kSmallestSlotBytes / 2);
}

TEST_P(EitherMode, ManyOwnersGetDisjointSlots) {
  Window window(options());
  std::vector<Slots> all;
  for (int i = 0; i < 16; ++i)
    all.push_back(window.acquire({.owner = &all, .device_places = 7, .peers = 16}));
  std::set<std::uintptr_t> bases;
  for (const Slots& slots : all) {
    EXPECT_EQ(slots.slot_bytes(), all.front().slot_bytes());
    for (int p = 0; p < 8; ++p) bases.insert(number(slots.base(base::PlaceId{p})));
  }
  ASSERT_EQ(bases.size(), 128U);
  for (auto b = bases.begin(); std::next(b) != bases.end(); ++b) {
    EXPECT_LT(*b + static_cast<std::uintptr_t>(all.front().slot_bytes()), *std::next(b));
  }
}

TEST(Window, PlacesSlotsAtTheirFixedAddresses) {
  Window window;
  const Slots slots = window.acquire({.owner = &window, .device_places = 1});
  ASSERT_FALSE(slots.table_mode());
  const auto host = number(slots.base(base::kHostPlace));
  const auto device = number(slots.base(kDevice1));
  EXPECT_EQ(host - host % kColourPeriodBytes, kWindowBegin);
  EXPECT_EQ(device - device % kColourPeriodBytes,
            kWindowBegin + static_cast<std::uintptr_t>(kLargestSlotBytes));
  EXPECT_EQ(slots.slot_bytes(), kLargestSlotBytes - kColourPeriodBytes);
}

TEST(Window, HalvesSlotsUntilTheOwnersOfAClusterFit) {
  Window window;
  std::vector<Slots> ranks;
  for (int i = 0; i < 8; ++i)
    ranks.push_back(window.acquire({.owner = &ranks, .device_places = 7, .peers = 8}));
  for (const Slots& slots : ranks) {  // 64 slots; 48 of the largest fit
    EXPECT_EQ(slots.slot_bytes(), kLargestSlotBytes / 2 - kColourPeriodBytes);
    EXPECT_FALSE(slots.table_mode());
  }
}

TEST(Window, AFullWindowGoesOnElsewhere) {
  Window window({.largest_slot_bytes = kLargestSlotBytes});
  std::vector<Slots> owners;
  for (int i = 0; i < 7; ++i) owners.push_back(window.acquire({.owner = &owners, .device_places = 7}));
  EXPECT_FALSE(owners.front().table_mode());
  *owners.back().base(kDevice1) = std::byte{1};
  EXPECT_EQ(window.find(owners.back().base(kDevice1))->place, kDevice1);
}

TEST(Window, AForeignMappingInTheWayLeadsToTheTable) {
  Window first;
  const Slots taken = first.acquire({.owner = &first});
  ASSERT_FALSE(taken.table_mode());
  Window second;  // knows nothing of the first one's mappings
  const Slots slots = second.acquire({.owner = &second, .device_places = 1});
  EXPECT_TRUE(slots.table_mode());
  EXPECT_EQ(slots.slot_bytes(), taken.slot_bytes());
  *slots.base(kDevice1) = std::byte{1};
}

TEST(Window, UsesAtMostHalfOfALimitedAddressSpace) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's own mappings exceed any limit";
  EXPECT_TRUE(in_child([] {
    if (!limit_address_space(Index{4} << 30)) return false;
    Window window;
    const Slots slots = window.acquire({.owner = &window, .device_places = 1});
    slots.base(base::kHostPlace)[slots.slot_bytes() - 1] = std::byte{1};
    slots.base(kDevice1)[slots.slot_bytes() - 1] = std::byte{1};
    const Index taken = 2 * slots.slot_bytes();
    return (Index{1} << 30) / 2 < taken && taken <= (Index{2} << 30);
  }));
}

TEST(Window, LeavesRoomForViewsInALimitedAddressSpace) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's own mappings exceed any limit";
  EXPECT_TRUE(in_child([] {
    if (!limit_address_space(Index{4} << 30)) return false;
    Window window;
    Slots slots = window.acquire({.owner = &window, .device_places = 1, .view = true});
    std::byte* const view = slots.view();
    if (view == nullptr) return false;
    const Index last = slots.slot_bytes() - kPageBytes;
    slots.base(base::kHostPlace)[last] = std::byte{3};
    return mprotect(view + last, kPageBytes, PROT_READ) == 0 && view[last] == std::byte{3};
  }));
}

TEST(Window, HasNoViewWhereNoAddressesAreLeft) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's own mappings exceed any limit";
  EXPECT_TRUE(in_child([] {
    Window window;
    Slots slots = window.acquire({.owner = &window});
    if (!limit_address_space(Index{1} << 30)) return false;
    return slots.view() == nullptr && slots.view() == nullptr;
  }));
}

TEST(Window, SaysWhatToDoWhenThereIsNoAddressSpaceAtAll) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's own mappings exceed any limit";
  EXPECT_TRUE(in_child([] {
    if (!limit_address_space(Index{8} << 20)) return false;
    try {
      Window window;
      const Slots slots = window.acquire({.owner = &window, .device_places = 7});
      return false;
    } catch (const Error& error) {
      return error.code() == ErrorCode::out_of_memory &&
             std::string(error.what()).find("ulimit -v") != std::string::npos;
    }
  }));
}

TEST(Window, DoesWithoutAFileWhereFilesMayNotBeLarge) {
  EXPECT_TRUE(in_child([] {
    const rlimit limit{4096, 4096};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return false;
    Window window;
    Slots slots = window.acquire({.owner = &window});
    *slots.base(base::kHostPlace) = std::byte{1};
    return slots.file(base::kHostPlace) == -1 && slots.view() == nullptr;
  }));
}

TEST(Window, RefusesRequestsAndOptionsWithoutMeaning) {
  const base::ThrowOnPanic throwing;
  Window window;
  EXPECT_THROW(window.acquire({.device_places = -1}), base::BrokenInvariant);
  EXPECT_THROW(window.acquire({.device_places = base::kMaxPlaces}), base::BrokenInvariant);
  EXPECT_THROW(window.acquire({.peers = 0}), base::BrokenInvariant);
  EXPECT_THROW(Window({.largest_slot_bytes = 1}), base::BrokenInvariant);
  EXPECT_THROW(Window({.largest_slot_bytes = 3 * kSmallestSlotBytes}), base::BrokenInvariant);
  const Slots slots = window.acquire({.owner = &window});
  EXPECT_THROW((void)slots.base(kDevice1), base::BrokenInvariant);
}

TEST(Window, TheProcessHasOne) { EXPECT_EQ(&Window::of_process(), &Window::of_process()); }

}  // namespace
}  // namespace nuna::address
