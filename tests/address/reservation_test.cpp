#include "address/reservation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>

namespace nuna::address {
namespace {

constexpr Index kMiB = Index{1} << 20;

/// The kernel's flags of the mapping that holds `address`: "rd wr sh ...".
std::string kernel_flags(const void* address) {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  std::ifstream maps("/proc/self/smaps");
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    unsigned long long begin = 0;
    unsigned long long end = 0;
    if (std::sscanf(line.c_str(), "%llx-%llx ", &begin, &end) == 2) inside = begin <= wanted && wanted < end;
    if (inside && line.starts_with("VmFlags:")) return line + " ";
  }
  return {};
}

TEST(Reservation, IsClosedUntilASlotIsOpened) {
  const auto reservation = Reservation::anywhere(16 * kMiB);
  ASSERT_TRUE(reservation.has_value());
  EXPECT_EQ(reservation->bytes(), 16 * kMiB);
  ASSERT_TRUE(reservation->map_private(kMiB, kMiB));
  EXPECT_THAT(kernel_flags(reservation->begin()), ::testing::Not(::testing::HasSubstr(" rd ")));
  EXPECT_THAT(kernel_flags(reservation->begin() + kMiB), ::testing::HasSubstr(" rd wr "));
  reservation->begin()[2 * kMiB - 1] = std::byte{1};
}

TEST(Reservation, SlotsStayOutOfCoreDumpsAndChildren) {
  const auto reservation = Reservation::anywhere(4 * kMiB);
  const auto file = memory_file(kMiB);
  ASSERT_TRUE(reservation && file);
  ASSERT_TRUE(reservation->map_private(0, kMiB));
  ASSERT_TRUE(reservation->map_shared(kMiB, kMiB, *file));
  for (const Index offset : {Index{0}, kMiB}) {
    const std::string flags = kernel_flags(reservation->begin() + offset);
    EXPECT_THAT(flags, ::testing::HasSubstr(" dd "));
    EXPECT_THAT(flags, ::testing::HasSubstr(" dc "));
  }
}

TEST(Reservation, AMappingMayBeClosedUntilItsPagesAreOpened) {
  const auto reservation = Reservation::anywhere(4 * kMiB);
  const auto file = memory_file(kMiB);
  ASSERT_TRUE(reservation && file);
  ASSERT_TRUE(reservation->map_shared(0, kMiB, *file));
  ASSERT_TRUE(reservation->map_closed(2 * kMiB, kMiB, *file));
  const std::string flags = kernel_flags(reservation->begin() + 2 * kMiB);
  EXPECT_THAT(flags, ::testing::Not(::testing::HasSubstr(" rd ")));
  EXPECT_THAT(flags, ::testing::HasSubstr(" dd "));
  EXPECT_THAT(flags, ::testing::HasSubstr(" dc "));
  reservation->begin()[4097] = std::byte{6};
  ASSERT_EQ(mprotect(reservation->begin() + 2 * kMiB + 4096, 4096, PROT_READ), 0);
  EXPECT_EQ(reservation->begin()[2 * kMiB + 4097], std::byte{6});
}

TEST(Reservation, TwoMappingsOfOneFileShowTheSameBytes) {
  const auto reservation = Reservation::anywhere(4 * kMiB);
  const auto file = memory_file(kMiB);
  ASSERT_TRUE(reservation && file);
  ASSERT_TRUE(reservation->map_shared(0, kMiB, *file));
  ASSERT_TRUE(reservation->map_shared(2 * kMiB, kMiB, *file));
  reservation->begin()[77] = std::byte{5};
  EXPECT_EQ(reservation->begin()[2 * kMiB + 77], std::byte{5});
}

TEST(Reservation, AtATakenAddressIsRefused) {
  const auto first = Reservation::anywhere(kMiB);
  ASSERT_TRUE(first.has_value());
  EXPECT_FALSE(Reservation::at(reinterpret_cast<std::uintptr_t>(first->begin()), kMiB).has_value());
}

TEST(Reservation, GivesItsAddressesBack) {
  std::uintptr_t address = 0;
  {
    const auto first = Reservation::anywhere(64 * kMiB);
    ASSERT_TRUE(first.has_value());
    address = reinterpret_cast<std::uintptr_t>(first->begin());
  }
  const auto again = Reservation::at(address, 64 * kMiB);
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(again->begin()), address);
}

TEST(Reservation, OfMoreThanThereIsIsRefused) {
  EXPECT_FALSE(Reservation::anywhere(Index{1} << 62).has_value());
}

TEST(MemoryFile, IsClosedByItsOwner) {
  int descriptor = -1;
  {
    auto file = memory_file(kMiB);
    ASSERT_TRUE(file.has_value());
    const File moved = std::move(*file);
    descriptor = moved.descriptor();
    ASSERT_GE(descriptor, 0);
  }
  std::ifstream gone("/proc/self/fd/" + std::to_string(descriptor));
  EXPECT_FALSE(gone.good());
}

}  // namespace
}  // namespace nuna::address
