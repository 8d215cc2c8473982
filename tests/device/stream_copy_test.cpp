#include "device/stream_copy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace nuna::device {
namespace {

TEST(StreamCopy, CopiesEveryByteAndNoOther) {
  std::mt19937 random(7);
  std::vector<std::byte> from(20'000);
  for (std::byte& b : from) b = static_cast<std::byte>(random());
  for (int round = 0; round < 2000; ++round) {
    const std::size_t size = random() % (round % 2 == 0 ? 300 : 15'000);
    const std::size_t source = random() % 200;
    const std::size_t target = 64 + random() % 200;
    std::vector<std::byte> to(16'000, std::byte{0x5a});
    stream_copy(to.data() + target, from.data() + source, size);
    EXPECT_TRUE(std::equal(to.data() + target, to.data() + target + size, from.data() + source));
    EXPECT_TRUE(std::all_of(to.begin(), to.begin() + static_cast<std::ptrdiff_t>(target),
                            [](std::byte b) { return b == std::byte{0x5a}; }));
    EXPECT_TRUE(std::all_of(to.begin() + static_cast<std::ptrdiff_t>(target + size), to.end(),
                            [](std::byte b) { return b == std::byte{0x5a}; }));
  }
}

}  // namespace
}  // namespace nuna::device
