// Random models, compared byte for byte with every block, thread and extra variable tried one after the other.

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "access/model_builder.hpp"

namespace nuna::access::test {
namespace {

using Bytes = std::set<Index>;

class RandomKernel {
 public:
  explicit RandomKernel(unsigned seed) : random_(seed) {
    numbers_.block = {pick(1, 6), pick(1, 3), pick(1, 2)};
    numbers_.grid = {pick(1, 6), pick(1, 4), pick(1, 2)};
    numbers_.scalars = {pick(1, 30), pick(1, 9)};
    const Index accesses = pick(1, 4);
    for (Index i = 0; i < accesses; ++i) add_access();
  }

  const LaunchNumbers& numbers() const { return numbers_; }
  const KernelModel& model() const { return kernel_.model(); }
  LaunchAccess launch() const { return kernel_.at(numbers_); }
  Index pick(Index from, Index to) { return std::uniform_int_distribution<Index>(from, to)(random_); }
  BlockBox pick_box() {
    BlockBox box;
    for (std::size_t a = 0; a < 3; ++a) {
      box[a].begin = pick(0, numbers_.grid[a] - 1);
      box[a].end = pick(box[a].begin, numbers_.grid[a]);
    }
    return box;
  }

  /// What blocks of `box` touch through pointer 0.
  Bytes touched(Access::Kind kind, const BlockBox& box) const {
    Bytes bytes;
    for (const Access& access : model().accesses) {
      if (access.kind != kind) continue;
      std::vector<Index> at(static_cast<std::size_t>(kExtra + access.extra));
      add_touched(access, box, 0, &at, &bytes);
    }
    return bytes;
  }

 private:
  static constexpr Index kMostExtra = 12;

  bool chance(int percent) { return pick(0, 99) < percent; }

  Sum place() {
    if (chance(70)) return global(static_cast<int>(pick(0, 1)));
    return chance(50) ? thread(static_cast<int>(pick(0, 2))) : block(static_cast<int>(pick(0, 2)));
  }
  Sum factor() {
    const Index kind = pick(0, 9);
    if (kind == 0) return scalar(0);
    if (kind == 1) return scalar(1);
    if (kind == 2) return Sum(-pick(1, 3));
    return Sum(pick(1, 4) == 1 ? pick(1, 20) : pick(1, 3));
  }
  Constraint guard() {
    Sum left = place();
    if (chance(40)) left = left - factor() * place();
    if (extras_ > 0 && chance(30)) left = left + factor() * extra(static_cast<int>(pick(0, extras_ - 1)));
    if (chance(4)) return left == Sum(pick(0, 5));
    return chance(50) ? left < (chance(50) ? scalar(0) : Sum(pick(-2, 15))) : Sum(pick(-3, 6)) <= left;
  }

  void add_access() {
    extras_ = chance(60) ? 0 : static_cast<int>(pick(1, 2));
    kernel_.with_extra(extras_);
    Domain domain;
    Sum value = factor() * place() + Sum(pick(-10, 10));
    if (chance(70)) value = value + factor() * place();
    for (int e = 0; e < extras_; ++e) {
      domain.push_back(Sum(0) <= extra(e));
      domain.push_back(extra(e) <= Sum(kMostExtra));
      if (chance(50)) {  // a quotient, and perhaps the remainder
        const Sum whole = place();
        const Sum divisor = chance(50) ? scalar(1) : Sum(pick(2, 5));
        domain.push_back(divisor * extra(e) <= whole);
        domain.push_back(whole < divisor * extra(e) +
                                     (chance(70) ? divisor : Sum(pick(1, 4))));  // or only some threads
        if (chance(40)) value = value + factor() * (whole - divisor * extra(e));
      } else if (chance(15)) {  // no factor is 1
        const Sum left = Sum(pick(2, 5)) * extra(e);
        const Sum right = Sum(pick(2, 4)) * place() + Sum(pick(-4, 4));
        domain.push_back(left == right);
      } else if (chance(60)) {  // a loop
        domain.push_back(extra(e) < (chance(50) ? place() + 1 : scalar(1)));
      }
      if (chance(70)) value = value + factor() * extra(e);
    }
    const Index guards = pick(0, 2);
    for (Index g = 0; g < guards; ++g) domain.push_back(guard());
    const auto bytes =
        static_cast<std::uint32_t>(std::array{1, 2, 4, 4, 8}[static_cast<std::size_t>(pick(0, 4))]);
    const Sum scale = chance(80) ? Sum(bytes) : Sum(pick(1, 5));
    kernel_.touches(chance(50) ? Access::Kind::read : Access::Kind::write, 0, value * scale, domain, bytes);
  }

  Index value_of(const Polynomial& polynomial, const std::vector<Index>& at) const {
    Index sum = 0;
    for (const Term& term : polynomial) {
      Index product = term.factor;
      for (const std::uint16_t p : term.parameters) {
        product *= p < kGridSize  ? numbers_.block[p]
                   : p < kScalars ? numbers_.grid[static_cast<std::size_t>(p - kGridSize)]
                                  : numbers_.scalars[static_cast<std::size_t>(p - kScalars)];
      }
      sum += product * (term.variable == kNoVariable ? 1 : at[static_cast<std::size_t>(term.variable)]);
    }
    return sum;
  }

  void add_touched(const Access& access, const BlockBox& box, std::size_t v, std::vector<Index>* at,
                   Bytes* bytes) const {
    if (v < at->size()) {
      const Interval range = v < kThreadIndex ? box[v]
                             : v < kExtra     ? Interval{0, numbers_.block[v - kThreadIndex]}
                                              : Interval{0, kMostExtra + 1};
      for (Index i = range.begin; i < range.end; ++i) {
        (*at)[v] = i;
        add_touched(access, box, v + 1, at, bytes);
      }
      return;
    }
    for (const Constraint& constraint : access.domain) {
      const Index left = value_of(constraint.left, *at);
      if (constraint.is_equality ? left != 0 : left < 0) return;
    }
    const Index first = value_of(*access.first_byte, *at);
    for (Index i = 0; i < access.bytes; ++i) bytes->insert(first + i);
  }

  std::mt19937_64 random_;
  LaunchNumbers numbers_;
  Kernel kernel_{1};
  int extras_ = 0;
};

Bytes bytes_of(const Footprint& footprint) {
  Bytes bytes;
  Index last = std::numeric_limits<Index>::min();
  for (const Rows& rows : footprint.rows) {
    EXPECT_GE(rows.begin, last);
    EXPECT_GE(rows.stride, rows.bytes);
    last = rows.begin;
    for (Index k = 0; k < rows.count; ++k) {
      for (Index i = 0; i < rows.bytes; ++i) {
        EXPECT_TRUE(bytes.insert(rows.begin + k * rows.stride + i).second) << "a byte in two rows";
      }
    }
  }
  EXPECT_EQ(footprint.bytes(), static_cast<Index>(bytes.size()));
  return bytes;
}

bool are_disjoint(const RandomKernel& kernel, int axis, std::vector<Index> begins) {
  Bytes all;
  Index begin = 0;
  begins.push_back(kernel.numbers().grid[static_cast<std::size_t>(axis)]);
  for (const Index end : begins) {
    for (const Index byte :
         kernel.touched(Access::Kind::write, blocks(kernel.numbers(), axis, {begin, end}))) {
      if (!all.insert(byte).second) return false;
    }
    begin = end;
  }
  return true;
}

TEST(RandomModels, TouchWhatEveryThreadOfThemDoes) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    RandomKernel kernel(seed);
    LaunchAccess launch = kernel.launch();
    ASSERT_FALSE(launch.refusal()) << launch.refusal()->reason;
    const BlockBox whole = all(kernel.numbers());
    EXPECT_EQ(launch.reads(0), !kernel.touched(Access::Kind::read, whole).empty());
    EXPECT_EQ(launch.writes(0), !kernel.touched(Access::Kind::write, whole).empty());
    for (int i = 0; i < 2; ++i) {
      const BlockBox box = i == 0 ? whole : kernel.pick_box();
      EXPECT_EQ(bytes_of(launch.written(0, box)), kernel.touched(Access::Kind::write, box));
      EXPECT_EQ(bytes_of(launch.read(0, box)), kernel.touched(Access::Kind::read, box));
    }
    ASSERT_FALSE(launch.refusal()) << launch.refusal()->reason;
    for (int axis = 0; axis < 3; ++axis) {
      const Index grid = kernel.numbers().grid[static_cast<std::size_t>(axis)];
      std::vector<Index> begins;
      for (Index b = kernel.pick(1, 3); b < grid; b += kernel.pick(1, 3)) begins.push_back(b);
      EXPECT_EQ(launch.is_disjoint(axis, begins), are_disjoint(kernel, axis, begins)) << "axis " << axis;
    }
    if (HasFailure()) break;
  }
}

}  // namespace
}  // namespace nuna::access::test
