#include "access/launch_form.hpp"

#include <gtest/gtest.h>

#include <random>

#include "access/model_builder.hpp"

namespace nuna::access::test {
namespace {

/// The form of a launch of 4 blocks of 32 threads.
LaunchForm::Form form_of(const Kernel& kernel, const std::vector<std::int64_t>& scalars) {
  KernelModel model = kernel.model();
  model.parameters.resize(kScalars + scalars.size());
  return LaunchForm(model).of({{32, 1, 1}, {4, 1, 1}, scalars});
}

const Sum x = global(0);
const Sum n = scalar(0);
const Sum at = scalar(1);

TEST(LaunchForm, ScalarsThatNoAddressDependsOnDoNotDecide) {
  const Kernel kernel = Kernel().reads(0, x, {x < n}).writes(1, x, {x < n});
  EXPECT_EQ(form_of(kernel, {100, 1}).deciding, form_of(kernel, {100, 2}).deciding);
  EXPECT_NE(form_of(kernel, {100, 1}).deciding, form_of(kernel, {101, 1}).deciding);
}

TEST(LaunchForm, WhatIsAddedToAllAddressesOnlyMovesThem) {
  const Kernel kernel = Kernel().reads(0, x + at * n, {x < n}).reads(0, x + at * n + 5, {x < n}).writes(1, x);
  EXPECT_EQ(form_of(kernel, {100, 1}).deciding, form_of(kernel, {100, 7}).deciding);
  EXPECT_EQ(form_of(kernel, {100, 7}).begins, (std::vector<Index>{2800, 0, 0}));
}

TEST(LaunchForm, WhatMovesOneAddressOfAPointerDecides) {
  const Kernel kernel = Kernel().reads(0, x).reads(0, x + at);
  EXPECT_NE(form_of(kernel, {100, 1}).deciding, form_of(kernel, {100, 2}).deciding);
}

TEST(LaunchForm, GuardsAndStridesDecide) {
  EXPECT_NE(form_of(Kernel().reads(0, x, {at < x}), {9, 1}).deciding,
            form_of(Kernel().reads(0, x, {at < x}), {9, 2}).deciding);
  EXPECT_NE(form_of(Kernel().reads(0, at * x), {9, 1}).deciding,
            form_of(Kernel().reads(0, at * x), {9, 2}).deciding);
}

TEST(LaunchForm, AnIndexThatMayWrapDecides) {
  const Kernel kernel = Kernel().reads(0, x + at).assumes(x + at);
  const std::int64_t most = std::numeric_limits<std::int32_t>::max();
  EXPECT_EQ(form_of(kernel, {0, 1}).deciding, form_of(kernel, {0, most - 127}).deciding);
  EXPECT_NE(form_of(kernel, {0, 1}).deciding, form_of(kernel, {0, most - 126}).deciding);
  EXPECT_NE(form_of(kernel, {0, most}).deciding, form_of(kernel, {0, most - 1}).deciding);
}

TEST(LaunchForm, NumbersThatAreTooLargeDecide) {
  const Kernel kernel = Kernel().reads(0, x + at * at);
  const std::int64_t large = std::int64_t{1} << 40;
  EXPECT_EQ(form_of(kernel, {0, 1}).deciding, form_of(kernel, {0, 2}).deciding);
  EXPECT_NE(form_of(kernel, {0, large}).deciding, form_of(kernel, {0, large + 1}).deciding);
}

class RandomLaunches {
 public:
  explicit RandomLaunches(unsigned seed) : random_(seed), kernel_(2) {
    const Index accesses = pick(1, 4);
    for (Index i = 0; i < accesses; ++i) {
      Domain domain;
      if (pick(0, 1) == 0) domain.push_back(x < Sum(pick(10, 130)) + maybe(2));
      const Sum first = Sum(pick(1, 3)) * x + Sum(pick(0, 3)) * block(1) + scalar(0) * maybe(1) + maybe(1) +
                        Sum(pick(-4, 4));
      kernel_.touches(pick(0, 1) == 0 ? Access::Kind::read : Access::Kind::write,
                      static_cast<std::uint32_t>(pick(0, 1)), Sum(4) * first, domain, 4);
    }
    if (pick(0, 2) == 0) kernel_.assumes(Sum(1 << 24) * maybe(1) + x);
    model_ = kernel_.model();
    model_.parameters.resize(kScalars + 3);
  }

  const KernelModel& model() const { return model_; }
  LaunchNumbers launch() {
    const Index own = pick(0, 3) == 0 ? pick(0, 5) : 2;
    return {{32, 1, 1}, {4, 3, 1}, {pick(0, 2), pick(0, 200), own}};
  }
  Index pick(Index from, Index to) { return std::uniform_int_distribution<Index>(from, to)(random_); }

 private:
  Sum maybe(int number) { return pick(0, 2) == 0 ? Sum(0) : scalar(number); }

  std::mt19937 random_;
  Kernel kernel_;
  KernelModel model_;
};

Footprint moved(Footprint footprint, Index by) {
  for (Rows& rows : footprint.rows) rows.begin += by;
  return footprint;
}

void expect_same(const Footprint& found, const Footprint& expected, const std::string& what) {
  EXPECT_EQ(found.anywhere, expected.anywhere) << what;
  EXPECT_EQ(found.rows, expected.rows) << what;
}

TEST(LaunchForm, LaunchesOfOneFormTouchTheSameBytesMoved) {
  int alike = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    RandomLaunches random(seed);
    const LaunchForm form(random.model());
    const LaunchNumbers one = random.launch();
    const LaunchNumbers other = random.launch();
    const LaunchForm::Form form_of_one = form.of(one);
    const LaunchForm::Form form_of_other = form.of(other);
    if (form_of_one.deciding != form_of_other.deciding) continue;
    alike += one.scalars != other.scalars ? 1 : 0;
    LaunchAccess access(random.model(), one);
    LaunchAccess moved_access(random.model(), other);
    ASSERT_EQ(access.refusal(), moved_access.refusal()) << "seed " << seed;
    const BlockBox box{Interval{random.pick(0, 1), random.pick(2, 4)}, Interval{0, random.pick(1, 3)},
                       Interval{0, 1}};
    for (std::uint32_t pointer = 0; pointer < 2; ++pointer) {
      const Index by = form_of_other.begins[pointer] - form_of_one.begins[pointer];
      const std::string what = "seed " + std::to_string(seed) + ", pointer " + std::to_string(pointer);
      EXPECT_EQ(access.reads(pointer), moved_access.reads(pointer)) << what;
      EXPECT_EQ(access.writes_all(pointer), moved_access.writes_all(pointer)) << what;
      expect_same(moved_access.read(pointer, box), moved(access.read(pointer, box), by), what);
      expect_same(moved_access.written(pointer, box), moved(access.written(pointer, box), by), what);
    }
    for (const int axis : {0, 1})
      EXPECT_EQ(access.is_disjoint(axis, {1, 2}), moved_access.is_disjoint(axis, {1, 2})) << "seed " << seed;
  }
  EXPECT_GT(alike, 300);
}

}  // namespace
}  // namespace nuna::access::test
