#include "address/layout.hpp"

#include <cstdio>

#include "base/check.hpp"

namespace nuna::address {
namespace {

std::string hexadecimal(std::uint64_t number) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(number));
  return text;
}

}  // namespace

GlobalAddress GlobalAddress::make(MemoryId memory, Index offset) {
  base::check(0 <= memory.rank.value && memory.rank.value < kMaxRanks, "a rank does not fit into an address");
  base::check(0 <= memory.place.value && memory.place.value < base::kMaxPlaces,
              "a place does not fit into an address");
  base::check(0 <= offset && offset <= kMaxOffset, "an offset does not fit into an address");
  const auto rank = static_cast<std::uint64_t>(memory.rank.value) + 1;
  const auto place = static_cast<std::uint64_t>(memory.place.value);
  return GlobalAddress(((rank << kPlaceBits | place) << kOffsetBits) | static_cast<std::uint64_t>(offset));
}

GlobalAddress GlobalAddress::local(const void* pointer) {
  const GlobalAddress address(reinterpret_cast<std::uintptr_t>(pointer));
  base::check(address.is_local(), "a pointer has bits where an address has its rank");
  return address;
}

MemoryId GlobalAddress::memory() const {
  base::check(!is_local(), "a local pointer was asked for its rank");
  const auto place = static_cast<std::int32_t>(bits_ >> kOffsetBits & ((1U << kPlaceBits) - 1));
  return {base::RankId{static_cast<std::int32_t>(rank_field()) - 1}, base::PlaceId{place}};
}

Index GlobalAddress::offset() const {
  base::check(!is_local(), "a local pointer was asked for its offset");
  return static_cast<Index>(bits_ & static_cast<std::uint64_t>(kMaxOffset));
}

std::string to_string(MemoryId memory) {
  const std::string rank = "rank " + std::to_string(memory.rank.value);
  if (memory.place == base::kHostPlace) return rank + ", host memory";
  return rank + ", place " + std::to_string(memory.place.value);
}

std::string to_string(GlobalAddress address) {
  if (address.is_local()) return "local " + hexadecimal(address.bits());
  return to_string(address.memory()) + ", offset " +
         hexadecimal(static_cast<std::uint64_t>(address.offset()));
}

}  // namespace nuna::address
