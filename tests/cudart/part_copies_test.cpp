#include "part_copies.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace nuna::cudart {
namespace {

std::vector<char> numbered(std::size_t count) {
  std::vector<char> bytes(count);
  std::iota(bytes.begin(), bytes.end(), char{0});
  return bytes;
}

TEST(SavedRows, GoBackToWhereTheyWere) {
  std::vector<char> one = numbered(100);
  std::vector<char> other = numbered(50);
  SavedRows saved;
  saved.save(0, {{3, 7}, {90, 100}}, one.data());
  saved.save(1, {{0, 1}}, other.data());
  std::vector<char> changed = one;
  for (const int at : {3, 6, 90, 99}) changed[static_cast<std::size_t>(at)] = 77;
  changed[50] = 78;
  other[0] = 79;
  saved.put_back({changed.data(), other.data()});
  one[50] = 78;  // of no row
  EXPECT_EQ(changed, one);
  EXPECT_EQ(other, numbered(50));
}

TEST(WorkingCopy, HoldsItsRowsAsIfItWereTheChunk) {
  const std::vector<char> chunk = numbered(40'000);
  const WorkingCopy copy({{5000, 5010}, {39'990, 40'000}}, chunk.data());
  EXPECT_EQ(copy.first()[5003], chunk[5003]);
  EXPECT_EQ(copy.first()[39'999], chunk[39'999]);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(copy.first()) % 4096, 0u);
}

TEST(WorkingCopy, OfNoRowsIsNone) { EXPECT_EQ(WorkingCopy().first(), nullptr); }

}  // namespace
}  // namespace nuna::cudart
