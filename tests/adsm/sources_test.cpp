#include "adsm/sources.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <exception>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/timeline.hpp"

namespace nuna::adsm {
namespace {

using base::ByteBox;
using base::Shape;
using Kind = Sources::Source::Kind;
using State = Sources::State;

Index below(std::mt19937& random, Index bound) { return static_cast<Index>(random()) % bound; }

// Not empty.
Interval within(std::mt19937& random, Index size) {
  const Index a = below(random, size);
  return {a, a + 1 + below(random, size - a)};
}

Shape any_shape(std::mt19937& random) {
  Shape shape;
  shape.extents = Extents{1 + below(random, 5), 1 + below(random, 6), 1 + below(random, 7)};
  shape.element_bytes = 1 + below(random, 9);
  return shape;
}

ByteBox any_box(const Shape& shape, std::mt19937& random) {
  ByteBox box = shape.whole();
  for (int a = 0; a <= base::kByteAxis; ++a) {
    if (random() % 3 != 0) box[a] = within(random, box[a].size());
  }
  return box;
}

// By the definition: is dense byte `at` of the box?
bool holds(const Shape& shape, const ByteBox& box, Index at) {
  Index rest = at / shape.element_bytes;
  const Index k = rest % shape.extents.size[2];
  rest /= shape.extents.size[2];
  const Index j = rest % shape.extents.size[1];
  const Index i = rest / shape.extents.size[1];
  return box[0].contains(i) && box[1].contains(j) && box[2].contains(k) &&
         box[base::kByteAxis].contains(at % shape.element_bytes);
}

bool meets(const Shape& shape, const ByteBox& box, Interval range) {
  for (Index at = range.begin; at < range.end; ++at) {
    if (holds(shape, box, at)) return true;
  }
  return false;
}

TEST(ForEachRun, GivesEachByteOfABoxWithinARangeOnceAndAscending) {
  for (unsigned seed = 0; seed < 5000; ++seed) {
    std::mt19937 random(seed);
    const Shape shape = any_shape(random);
    const ByteBox box = any_box(shape, random);
    const Interval range = random() % 5 == 0 ? Interval{0, shape.bytes()} : within(random, shape.bytes());
    std::vector<Index> expected;
    for (Index at = range.begin; at < range.end; ++at) {
      if (holds(shape, box, at)) expected.push_back(at);
    }
    std::vector<Index> bytes;
    for_each_run(shape, box, range, [&](Index begin, Index end) {
      EXPECT_LT(begin, end);
      for (Index at = begin; at < end; ++at) bytes.push_back(at);
      return true;
    });
    ASSERT_EQ(bytes, expected) << "seed " << seed << ": " << base::to_string(box);
  }
}

TEST(ForEachRun, OfA2DBufferGivesItsRows) {
  const Shape shape{Extents{100, 50}, 4};
  int runs = 0;
  for_each_run(shape, shape.of(Box{{0, 100}, {25, 50}}), {0, shape.bytes()}, [&](Index begin, Index end) {
    EXPECT_EQ(end - begin, 100);
    ++runs;
    return true;
  });
  EXPECT_EQ(runs, 100);
}

TEST(ForEachRun, GivesOneRunOfWhatLiesTogether) {
  const Shape shape{Extents{4, 5, 6}, 8};
  int runs = 0;
  const auto count = [&](Index, Index) {
    ++runs;
    return true;
  };
  for_each_run(shape, shape.whole(), {0, shape.bytes()}, count);
  EXPECT_EQ(runs, 1);
  for_each_run(shape, shape.of(Box{{2, 3}, {1, 4}, {0, 6}}), {0, shape.bytes()}, count);
  EXPECT_EQ(runs, 2);
  for_each_run(shape, shape.of(Box{{2, 3}, {1, 4}, {0, 3}}), {0, shape.bytes()}, count);
  EXPECT_EQ(runs, 5) << "three rows";
}

// One line whose operations end when the test says so.
class Lane {
 public:
  base::Ticket submit() { return {&line_, ++last_}; }
  bool over() const { return line_.reached(last_); }
  void end_one(bool fails) {
    const std::uint64_t value = line_.completed() + 1;
    if (fails) line_.fail(value, std::make_exception_ptr(std::runtime_error("no luck")));
    line_.complete(value);
  }

 private:
  base::Doorbell bell_;
  base::Timeline line_{bell_};
  std::uint64_t last_ = 0;
};

// Sources of a random buffer, and the same byte by byte.
class Model {
 public:
  explicit Model(unsigned seed)
      : random_(seed), shape_(any_shape(random_)), near_(size()), host_(size()), is_near_(size()) {
    for (std::byte& b : near_) b = static_cast<std::byte>(random_());
    for (std::byte& b : host_) b = static_cast<std::byte>(random_());
    add_sources();
    for (Index n = below(random_, 4); n > 0; --n) {
      uses_.push_back({any_box(shape_, random_), any_ticket(), random_() % 2 == 0});
    }
    while (random_() % 3 != 0) step();
    built_ = Sources(shape_, sources_, uses_);
  }

  void step() {
    Lane& lane = lanes_[random_() % lanes_.size()];
    if (!lane.over()) lane.end_one(random_() % 4 == 0);
  }

  void check_states() {
    const Interval range = within(random_, shape_.bytes());
    const bool current = random_() % 3 == 0;
    const bool write = random_() % 2 == 0;
    bool waits = false;
    bool distant = false;
    bool near = false;
    bool failed = false;
    bool sure = true;  // that nothing has failed
    for (const Sources::Source& s : sources_) {
      if (!meets(shape_, s.box, range)) continue;
      for (const base::Ticket& t : s.written_by) {
        if (!t.done()) waits = true;
        if (t.done() && t.failure()) failed = true;
        if (t.line != nullptr && t.line->any_failed()) sure = false;
      }
      distant = distant || (!current && s.kind == Kind::distant);
      near = near || (!current && s.kind == Kind::near);
    }
    bool used = false;
    bool only_read = !near;
    for (const Sources::Use& u : uses_) {
      if (u.ticket.done() || !(write || near || u.writes) || !meets(shape_, u.box, range)) continue;
      used = true;
      only_read = only_read && !u.writes;
    }
    const State state = built_.state(range, current, write);
    if (waits || distant) {
      EXPECT_TRUE((waits && state == State::pending) || (distant && state == State::distant)) << int(state);
    } else if (used) {
      EXPECT_TRUE((only_read && state == State::in_use) || (state == State::pending && !(only_read && sure)))
          << int(state);
    } else if (failed) {
      EXPECT_EQ(state, State::doubtful);
    } else {
      EXPECT_LE(state, State::doubtful);
    }
    EXPECT_EQ(built_.failure(range) != nullptr, failed);
  }

  void check_fetch() {
    const Interval range = within(random_, shape_.bytes());
    std::vector<std::byte> expected = host_;
    Index count = 0;
    for (Index at = range.begin; at < range.end; ++at) {
      if (!is_near_[static_cast<std::size_t>(at)]) continue;
      expected[static_cast<std::size_t>(at)] = near_[static_cast<std::size_t>(at)];
      ++count;
    }
    EXPECT_EQ(built_.brings(range), count > 0);
    EXPECT_EQ(built_.fetch(range, host_.data()), count);
    EXPECT_EQ(host_, expected);
  }

 private:
  std::size_t size() const { return static_cast<std::size_t>(shape_.bytes()); }
  base::Ticket any_ticket() {
    return random_() % 5 == 0 ? base::Ticket{} : lanes_[random_() % lanes_.size()].submit();
  }
  // Consecutive byte ranges, so that there are broken elements; what is left out nobody wrote.
  void add_sources() {
    for (Index at = 0; at < shape_.bytes();) {
      const Interval range{at, at + 1 + below(random_, shape_.bytes() - at)};
      at = range.end;
      if (random_() % 4 == 0) continue;
      const auto kind = static_cast<Kind>(random_() % 3);
      for (const ByteBox& box : base::boxes_of_range(shape_, range)) {
        Sources::Source source{box, kind, near_.data(), {}};
        for (Index n = below(random_, 3); n > 0; --n) source.written_by.push_back(any_ticket());
        sources_.push_back(std::move(source));
      }
      for (Index b = range.begin; kind == Kind::near && b < range.end; ++b)
        is_near_[static_cast<std::size_t>(b)] = true;
    }
  }

  std::mt19937 random_;
  Shape shape_;
  std::array<Lane, 3> lanes_;
  std::vector<std::byte> near_;
  std::vector<std::byte> host_;
  std::vector<bool> is_near_;
  std::vector<Sources::Source> sources_;
  std::vector<Sources::Use> uses_;
  Sources built_;
};

TEST(Sources, SayWhatEachByteTells) {
  for (unsigned seed = 0; seed < 1000 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Model model(seed);
    for (int i = 0; i < 20; ++i) {
      model.check_states();
      model.step();
    }
  }
}

TEST(Sources, FetchWhatIsNearAndNothingElse) {
  for (unsigned seed = 0; seed < 1000 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Model model(seed);
    for (int i = 0; i < 5; ++i) model.check_fetch();
  }
}

const Shape kLine{Extents{100}, 1};

TEST(Sources, AreReadyWhereNobodyWrote) {
  const Sources none(kLine, {}, {});
  EXPECT_EQ(none.state({0, 100}, false, true), State::ready);
  EXPECT_FALSE(none.brings({0, 100}));
}

TEST(Sources, SayNothingOfBytesThatTheyDoNotKnow) {
  const Sources sources(
      kLine, {{ByteBox{{Interval{40, 50}, {0, 1}, {0, 1}, {0, 1}}}, Kind::near, nullptr, {}}}, {}, {40, 60});
  EXPECT_EQ(sources.state({40, 60}, false, true), State::ready);
  EXPECT_TRUE(sources.brings({40, 60}));
  EXPECT_EQ(sources.state({39, 60}, false, false), State::unknown);
  EXPECT_EQ(sources.state({40, 61}, true, true), State::unknown);
}

TEST(Sources, WaitForWritersEvenIfTheHostHasTheNewest) {
  Lane lane;
  const Sources sources(kLine, {{kLine.whole(), Kind::host, nullptr, {lane.submit()}}}, {});
  EXPECT_EQ(sources.state({0, 1}, true, false), State::pending);
  lane.end_one(false);
  EXPECT_EQ(sources.state({0, 1}, true, false), State::ready);
}

TEST(Sources, AreReadBesideReadersAndToBeWrittenInATwinOfWhatTheyRead) {
  Lane lane;
  const Sources sources(kLine, {{kLine.whole(), Kind::host, nullptr, {}}},
                        {{kLine.whole(), lane.submit(), false}});
  EXPECT_EQ(sources.state({10, 20}, false, false), State::ready);
  EXPECT_EQ(sources.state({10, 20}, false, true), State::in_use);
  lane.end_one(false);
  EXPECT_EQ(sources.state({10, 20}, false, true), State::ready);
}

TEST(Sources, AreNotFetchedOverWhatIsBeingRead) {
  Lane lane;
  const Sources sources(kLine, {{kLine.whole(), Kind::near, nullptr, {}}},
                        {{kLine.whole(), lane.submit(), false}});
  EXPECT_EQ(sources.state({10, 20}, false, false), State::pending);
  EXPECT_EQ(sources.state({10, 20}, true, false), State::ready) << "nothing is fetched";
}

TEST(Sources, DoubtOnlyWhatAnUnfinishedOperationMakes) {
  Lane lane;
  const base::Ticket good = lane.submit();
  const base::Ticket bad = lane.submit();
  lane.end_one(false);
  lane.end_one(true);
  const auto state = [](const base::Ticket& by) {
    return Sources(kLine, {{kLine.whole(), Kind::host, nullptr, {by}}}, {}).state({0, 100}, false, false);
  };
  EXPECT_EQ(state(good), State::ready) << "the lane's failure is another's";
  EXPECT_EQ(state(bad), State::doubtful);
}

}  // namespace
}  // namespace nuna::adsm
