#include "access/declared.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nuna/error.hpp"

namespace nuna::access {
namespace {

const base::Shape kShape{{10, 20}, 4};

Box touched_of(const AccessMap& map, const Box& threads) {
  const base::ByteBox b = touched_box(map, kShape, threads);
  return Box{b[0], b[1]};
}

TEST(DeclaredAccess, OfEachBuilderIsItsDocumentedBox) {
  const Box threads{{2, 4}, {5, 8}};
  EXPECT_EQ(touched_of(one_to_one(), threads), (Box{{2, 4}, {5, 8}}));
  EXPECT_EQ(touched_of(halo(3), threads), (Box{{0, 7}, {2, 11}}));
  EXPECT_EQ(touched_of(halo(1, 0), threads), (Box{{1, 5}, {5, 8}}));
  EXPECT_EQ(touched_of(whole(), threads), (Box{{0, 10}, {0, 20}}));
  EXPECT_EQ(touched_of(rows(), threads), (Box{{2, 4}, {0, 20}}));
  EXPECT_EQ(touched_of(columns(), threads), (Box{{0, 10}, {5, 8}}));
  EXPECT_EQ(touched_of(permuted(1, 0), threads), (Box{{5, 8}, {2, 4}}));
  EXPECT_EQ(touched_of(tiles(2, 2), threads), (Box{{4, 8}, {10, 16}}));
  EXPECT_EQ(touched_of(fixed(Box{{1, 2}, {3, 9}}), threads), (Box{{1, 2}, {3, 9}}));
  EXPECT_EQ(touched_of(one_to_one().shifted({1, -5}), threads), (Box{{3, 5}, {0, 3}}));
}

ErrorCode refused(const AccessMap& map, const Box& domain) {
  try {
    check_inside(map, kShape, domain, "launch 'test'");
  } catch (const Error& e) {
    return e.code();
  }
  ADD_FAILURE() << "not refused";
  return ErrorCode::unsupported;
}

TEST(DeclaredAccess, MayLeaveTheBufferWithItsHaloOnly) {
  const Box all{{0, 10}, {0, 20}};
  EXPECT_NO_THROW(check_inside(halo(5), kShape, all, "launch"));
  EXPECT_EQ(refused(one_to_one().shifted({1, 0}), all), ErrorCode::out_of_bounds);
  EXPECT_EQ(refused(tiles(1, 2), all), ErrorCode::out_of_bounds);
  EXPECT_EQ(refused(fixed(Box{{0, 11}, {0, 1}}), all), ErrorCode::out_of_bounds);
  EXPECT_EQ(refused(permuted(2, 0), all), ErrorCode::invalid_argument);
  EXPECT_EQ(refused(halo(-1), all), ErrorCode::invalid_argument);
  EXPECT_EQ(refused(tiles(0), all), ErrorCode::invalid_argument);
  EXPECT_EQ(refused(rows(5), all), ErrorCode::invalid_argument);
}

TEST(DeclaredAccess, WithNumbersThatWouldOverflowIsRefused) {
  constexpr Index kMost = std::numeric_limits<Index>::max();
  const Box all{{0, 10}, {0, 20}};
  for (const Index large : {kMost, Index{1} << 60, Index{1} << 59}) {
    EXPECT_EQ(refused(tiles(large), all),
              large == kMost ? ErrorCode::invalid_argument : ErrorCode::out_of_bounds);
  }
  EXPECT_EQ(refused(one_to_one().shifted({kMost, 0}), all), ErrorCode::invalid_argument);
  EXPECT_EQ(refused(one_to_one().shifted({-kMost - 1, 0}), all), ErrorCode::invalid_argument);
  EXPECT_EQ(refused(halo(kMost), all), ErrorCode::invalid_argument);
  EXPECT_NO_THROW(check_inside(halo(Index{1} << 60), kShape, all, "launch"));
  EXPECT_EQ(touched_box(halo(Index{1} << 60), kShape, all), kShape.whole());
}

TEST(DeclaredAccess, OfAFunctionOutsideTheBufferIsRefused) {
  const AccessMap map =
      mapped([](const Part&, std::vector<Box>& boxes) { boxes.push_back(Box{{0, 11}, {0, 1}}); });
  EXPECT_THROW(function_boxes(map, kShape, {Box{{0, 1}, {0, 1}}, Box{{0, 1}, {0, 1}}}), Error);
}

TEST(DeclaredAccess, OfStatelessFunctionsIsKnownByTheirType) {
  const auto f = [](const Part& p, std::vector<Box>& boxes) { boxes.push_back(p.threads); };
  EXPECT_EQ(mapped(f), mapped(f));
  int n = 0;
  const auto g = [&n](const Part& p, std::vector<Box>& boxes) { boxes.push_back(p.threads), ++n; };
  EXPECT_FALSE(mapped(g) == mapped(g));
}

}  // namespace
}  // namespace nuna::access
