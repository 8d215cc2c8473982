// Lowering and residency against memories without devices: no instruction reads what is not the newest, and nothing that
// happens to the residency of one rank changes a message (D3).

#include <gtest/gtest.h>

#include <utility>

#include "property/places.hpp"
#include "property/planned.hpp"
#include "property/script.hpp"
#include "residency/lower.hpp"

namespace nuna::property {
namespace {

using residency::Holding;
using residency::PlaceSet;

struct Rank {
  Rank(access::Team team, int number, const std::vector<base::Shape>& buffers,
       residency::Lowering::Config config)
      : planner(team, number, buffers, true, 1), lowering(std::move(config)) {
    for (std::size_t b = 0; b < buffers.size(); ++b) held.push_back(lowering.intern({}));
  }
  PlanningRank planner;
  residency::Lowering lowering;
  std::vector<residency::ResidencyRef> held;
};

class Cluster {
 public:
  Cluster(std::uint64_t seed, bool perturbed) : random_(seed), whims_(mixed(seed, 1)), perturbed_(perturbed) {
    team_ = {random_.number(1, 4), random_.number(1, 4)};
    taste_.small = random_.one_in(4);
    for (int b = 0; b < 2; ++b) {
      shapes_.push_back(b > 0 && random_.one_in(2) ? shapes_.front() : random_shape(random_, 60, {1, 2, 3}));
    }
    const bool shared = team_.devices == 1;
    places_ = shared ? 1 : team_.devices + 1;
    residency::Lowering::Config config;
    for (int d = 0; d < team_.devices; ++d) config.place_of_slot.push_back({shared ? 0 : d + 1});
    config.poison = !random_.one_in(4);
    config.fewest_ahead = random_.one_in(4) ? 0 : 1;
    for (const base::PlaceId own : config.place_of_slot) {
      PlaceSet reached = PlaceSet::only(own);
      for (const base::PlaceId other : config.place_of_slot) {
        if (!random_.one_in(3)) reached = reached.with(other);
      }
      config.reached_by_slot.push_back(reached);
    }
    for (int r = 0; r < team_.ranks; ++r) {
      config.rank = {r};
      ranks_.push_back(std::make_unique<Rank>(team_, r, shapes_, config));
    }
    memories_ = std::make_unique<PlaceMemories>(team_.ranks, places_, shapes_);
  }

  /// Performs a call; returns the plans between ranks.
  std::vector<plan::RankPlanRef> step() {
    const PlannedCall call = random_call(random_, shapes_, team_, taste_);
    text_ += "  " + call.text + "\n";
    ++calls_;
    try {
      if (perturbed_) perturb();
      std::vector<plan::RankPlanRef> plans = perform(call);
      for (int r = 0; r < team_.ranks; ++r) check(r);
      return plans;
    } catch (const std::exception& e) {
      throw Mismatch(std::string(e.what()) + "\nafter: " + std::to_string(team_.ranks) + " ranks x " +
                     std::to_string(team_.devices) + " devices\n" + text_);
    }
  }

 private:
  std::vector<plan::RankPlanRef> perform(const PlannedCall& call) {
    std::vector<plan::RankPlanRef> plans;
    std::vector<plan::PlacePlanRef> lowered;
    for (const auto& rank : ranks_) {
      const plan::Planned* planned = rank->planner.perform(call);
      if (planned == nullptr) continue;
      plans.push_back(planned->plan);
      lowered.push_back(lower(*rank, *planned, call));
    }
    if (plans.empty()) {
      host_wrote(call);
      return plans;
    }
    std::vector<int> buffer_of;
    for (const plan::ArgumentUse& u : call.shape.uses)
      buffer_of.push_back(call.distinct[static_cast<std::size_t>(u.buffer)]);
    memories_->perform(calls_, lowered, buffer_of);
    return plans;
  }

  static plan::PlacePlanRef lower(Rank& rank, const plan::Planned& planned, const PlannedCall& call) {
    residency::States before;
    for (const int b : call.distinct) before.push_back(rank.held[static_cast<std::size_t>(b)]);
    const residency::Lowered& lowered =
        rank.lowering.lower(planned, call.shape.uses, before, {.on_host = call.on_host});
    for (std::size_t n = 0; n < call.distinct.size(); ++n) {
      rank.held[static_cast<std::size_t>(call.distinct[n])] = lowered.next[n];
    }
    return lowered.plan;
  }

  // As execute::Program does it: the host places of those ranks hold it, alone.
  void host_wrote(const PlannedCall& call) {
    const base::Shape& shape = shapes_[static_cast<std::size_t>(call.buffer)];
    const base::BoxList boxes = call.kind == PlannedCall::Kind::write_box
                                    ? base::BoxList{call.box}
                                    : base::boxes_of_range(shape, call.range);
    for (int r = 0; r < team_.ranks; ++r) {
      Rank& rank = *ranks_[static_cast<std::size_t>(r)];
      residency::ResidencyState state = *rank.held[static_cast<std::size_t>(call.buffer)];
      const bool wrote = call.ranks.contains({r});
      for (const base::ByteBox& box : boxes) {
        state.set(box, wrote ? PlaceSet::only(base::kHostPlace) : PlaceSet());
        for_each_byte(shape, box, [&](Index byte) {
          memories_->newest(call.buffer, byte) = {calls_, byte};
          if (wrote) memories_->at(r, 0, call.buffer, byte) = {calls_, byte};
        });
      }
      rank.held[static_cast<std::size_t>(call.buffer)] = rank.lowering.intern(std::move(state));
    }
  }

  // Replicas appear, copies move or are given up: never the last one.
  void perturb() {
    for (int n = whims_.number(0, 4); n > 0; --n) {
      const int r = whims_.number(0, team_.ranks - 1);
      const int b = whims_.number(0, static_cast<int>(shapes_.size()) - 1);
      Rank& rank = *ranks_[static_cast<std::size_t>(r)];
      residency::ResidencyState state = *rank.held[static_cast<std::size_t>(b)];
      const base::PlaceId place{whims_.number(0, places_ - 1)};
      const base::ByteBox box = shapes_[static_cast<std::size_t>(b)].of(
          random_box(whims_, shapes_[static_cast<std::size_t>(b)].extents));
      const bool move = whims_.one_in(2);
      for (const Holding& h : state.within(box)) {
        for_each_byte(shapes_[static_cast<std::size_t>(b)], h.box, [&](Index byte) {
          memories_->at(r, place.value, b, byte) = memories_->at(r, h.places.first().value, b, byte);
        });
      }
      state.add(box, place);
      for (const Holding& h : state.within(box)) {
        for (PlaceSet others = h.places.without(place); move && !others.empty();
             others = others.without(others.first())) {
          state.remove(h.box, others.first());
        }
      }
      rank.held[static_cast<std::size_t>(b)] = rank.lowering.intern(std::move(state));
    }
  }

  // Every place holds what the residency says; the rank holds what the directory says.
  void check(int r) {
    Rank& rank = *ranks_[static_cast<std::size_t>(r)];
    for (int b = 0; b < static_cast<int>(shapes_.size()); ++b) {
      const base::Shape& shape = shapes_[static_cast<std::size_t>(b)];
      std::vector<char> held(static_cast<std::size_t>(shape.bytes()));
      for (const Holding& h : rank.held[static_cast<std::size_t>(b)]->holdings()) {
        if (h.places.empty()) throw Mismatch("a holding without a place");
        for_each_byte(shape, h.box, [&](Index byte) {
          if (std::exchange(held[static_cast<std::size_t>(byte)], 1) != 0)
            throw Mismatch("holdings overlap at byte " + std::to_string(byte));
          for (PlaceSet left = h.places; !left.empty(); left = left.without(left.first())) {
            if (memories_->at(r, left.first().value, b, byte) == memories_->newest(b, byte)) continue;
            throw Mismatch("rank " + std::to_string(r) + ", place " + std::to_string(left.first().value) +
                           ": byte " + std::to_string(byte) + " of #" + std::to_string(b) +
                           " is not the newest");
          }
        });
      }
      for (const base::ByteBox& box : rank.planner.directory(b).held_by({r}, shape.whole())) {
        for_each_byte(shape, box, [&](Index byte) {
          if (held[static_cast<std::size_t>(byte)] == 0)
            throw Mismatch("rank " + std::to_string(r) + " lost byte " + std::to_string(byte));
        });
      }
    }
  }

  Random random_;
  Random whims_;
  bool perturbed_;
  access::Team team_;
  Taste taste_;
  int places_ = 1;
  std::vector<base::Shape> shapes_;
  std::vector<std::unique_ptr<Rank>> ranks_;
  std::unique_ptr<PlaceMemories> memories_;
  std::int64_t calls_ = 0;
  std::string text_;
};

TEST(Residency, NeverReadsBytesInAPlaceThatHasNotTheNewest) {
  for_each_seed(2000, [](std::uint64_t seed) {
    Cluster cluster(seed, false);
    for (int s = 0; s < 15; ++s) cluster.step();
  });
}

TEST(Residency, ReplicasMovesAndEvictionsChangeNoMessage) {
  for_each_seed(2000, [](std::uint64_t seed) {
    Cluster calm(seed, false);
    Cluster perturbed(seed, true);
    for (int s = 0; s < 15; ++s) {
      const auto plans = calm.step();
      const auto same = perturbed.step();
      ASSERT_EQ(plans.size(), same.size());
      for (std::size_t r = 0; r < plans.size(); ++r) ASSERT_TRUE(same_plan(*plans[r], *same[r]));
    }
  });
}

}  // namespace
}  // namespace nuna::property
