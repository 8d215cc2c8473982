#include "transfer/pieces.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace nuna::transfer {
namespace {

// Random strided pieces of one array, disjoint because each has a stretch of its own.
struct Layout {
  std::vector<std::byte> memory;
  Pieces pieces;
};

Layout random_layout(std::mt19937& random, const std::vector<Index>& sizes) {
  Layout layout;
  struct Shape {
    std::array<Index, 3> counts;
    Index run;
    Index gap;
  };
  std::vector<Shape> shapes;
  Index total = 0;
  for (Index left : sizes) {
    Shape s{{1, 1, 1}, left, static_cast<Index>(random() % 5)};
    for (auto& count : s.counts) {
      for (const Index f : {2, 3, 5}) {
        if (s.run % f == 0 && random() % 2 == 0) {
          count *= f;
          s.run /= f;
        }
      }
    }
    shapes.push_back(s);
    total += s.counts[0] * s.counts[1] * s.counts[2] * (s.run + s.gap) + 7;
  }
  layout.memory.resize(static_cast<std::size_t>(total));
  Index at = 3;
  for (const Shape& s : shapes) {
    device::Region r;
    r.first = layout.memory.data() + at;
    r.counts = s.counts;
    r.run_bytes = s.run;
    r.stride_bytes = {s.counts[1] * s.counts[2] * (s.run + s.gap), s.counts[2] * (s.run + s.gap), s.run + s.gap};
    layout.pieces.push_back({base::kHostPlace, r});
    at += s.counts[0] * s.counts[1] * s.counts[2] * (s.run + s.gap);
  }
  return layout;
}

std::vector<std::byte> flat(const Pieces& pieces) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(bytes_of(pieces)));
  pack(bytes.data(), pieces, {0, bytes_of(pieces)});
  return bytes;
}

void fill_randomly(std::mt19937& random, std::vector<std::byte>& memory) {
  for (std::byte& b : memory) b = static_cast<std::byte>(random());
}

std::vector<Index> random_sizes(std::mt19937& random, Index total) {
  std::vector<Index> sizes;
  while (total > 0) {
    sizes.push_back(1 + static_cast<Index>(random()) % total);
    total -= sizes.back();
  }
  return sizes;
}

TEST(Pieces, ArriveTheSameWhateverThePartsTheyAreMovedIn) {
  std::mt19937 random(11);
  for (int round = 0; round < 500; ++round) {
    const Index total = 1 + static_cast<Index>(random() % 3000);
    Layout from = random_layout(random, random_sizes(random, total));
    Layout to = random_layout(random, random_sizes(random, total));
    Layout packed = random_layout(random, random_sizes(random, total));
    fill_randomly(random, from.memory);
    std::vector<std::byte> buffer(static_cast<std::size_t>(total));
    for (Index at = 0; at < total;) {
      const Index end = std::min(total, at + 1 + static_cast<Index>(random() % 900));
      copy(to.pieces, from.pieces, {at, end});
      pack(buffer.data(), from.pieces, {at, end});
      unpack(packed.pieces, buffer.data(), {at, end});
      at = end;
    }
    ASSERT_EQ(flat(to.pieces), flat(from.pieces));
    ASSERT_EQ(flat(packed.pieces), flat(from.pieces));
  }
}

TEST(Pieces, LeaveTheGapsAlone) {
  std::mt19937 random(12);
  Layout to = random_layout(random, {60, 90});
  const std::vector<std::byte> before = to.memory;
  std::vector<std::byte> ones(150, std::byte{1});
  unpack(to.pieces, ones.data(), {0, 150});
  std::size_t written = 0;
  for (std::size_t i = 0; i < before.size(); ++i) written += to.memory[i] == std::byte{1} ? 1U : 0U;
  EXPECT_EQ(written, 150U);
}

TEST(Pieces, AreOneRunWhenOnePieceIsContiguous) {
  std::vector<std::byte> memory(100);
  device::Region r;
  r.first = memory.data();
  r.counts = {1, 2, 5};
  r.stride_bytes = {100, 50, 10};
  r.run_bytes = 10;
  EXPECT_EQ(one_run({{base::kHostPlace, r}}).size(), 100U);
  r.stride_bytes = {100, 50, 11};
  EXPECT_TRUE(one_run({{base::kHostPlace, r}}).empty());
}

}  // namespace
}  // namespace nuna::transfer
