// Directory and planner against a naive model that keeps, for each byte, the set of ranks that hold its newest version.

#include <gtest/gtest.h>

#include <utility>

#include "property/planned.hpp"
#include "property/script.hpp"
#include "schedule/partition.hpp"

namespace nuna::property {
namespace {

using RankSet = std::uint32_t;  // a bit each

RankSet only(int rank) { return RankSet{1} << rank; }

/// Bytes of one buffer on each rank, seen or not.
class SeenBytes {
 public:
  SeenBytes(int ranks, const base::Shape& shape)
      : bytes_(shape.bytes()), seen_(static_cast<std::size_t>(ranks * bytes_)) {}
  /// False when it was in already.
  bool insert(int rank, Index byte) {
    return !std::exchange(seen_[static_cast<std::size_t>(rank * bytes_ + byte)], true);
  }
  bool has(int rank, Index byte) const { return seen_[static_cast<std::size_t>(rank * bytes_ + byte)] != 0; }
  template <class F>
  void for_each(F f) const {
    for (std::size_t i = 0; i < seen_.size(); ++i) {
      if (seen_[i] != 0) f(static_cast<int>(static_cast<Index>(i) / bytes_), static_cast<Index>(i) % bytes_);
    }
  }

 private:
  Index bytes_;
  std::vector<char> seen_;
};

struct Holders {
  RankSet ranks = 0;                  // none: nobody wrote the byte
  int reads = 0;                      // of the buffer since the byte was written
  std::int64_t flattened_before = 0;  // counted when the byte was written
};

class NaiveDirectory {
 public:
  explicit NaiveDirectory(const base::Shape& shape)
      : shape_(shape), bytes_(static_cast<std::size_t>(shape.bytes())) {}

  Holders& at(Index byte) { return bytes_[static_cast<std::size_t>(byte)]; }
  const base::Shape& shape() const { return shape_; }
  void write(Index byte, RankSet ranks, std::int64_t flattened) { at(byte) = {ranks, 0, flattened}; }
  void count_read() {
    for (Holders& h : bytes_) ++h.reads;
  }

 private:
  base::Shape shape_;
  std::vector<Holders> bytes_;
};

class World {
 public:
  explicit World(std::uint64_t seed) : random_(seed) {
    team_ = {random_.number(1, 5), random_.number(1, 3)};
    taste_.small = random_.one_in(3);  // layers pile up
    const int buffers = random_.number(1, 2);
    for (int b = 0; b < buffers; ++b) {
      shapes_.push_back(b > 0 && random_.one_in(2) ? shapes_.front() : random_shape(random_, 60, {1, 2, 3}));
      naive_.emplace_back(shapes_.back());
      flat_.emplace_back(static_cast<std::size_t>(shapes_.back().bytes()));
    }
    for (int r = 0; r < team_.ranks; ++r) {
      fast_.push_back(std::make_unique<PlanningRank>(team_, r, shapes_, true));
      slow_.push_back(std::make_unique<PlanningRank>(team_, r, shapes_, false));
    }
  }

  void step() {
    const PlannedCall call = random_call(random_, shapes_, team_, taste_);
    text_ += "  " + call.text + "\n";
    plans_.clear();
    for (std::size_t r = 0; r < fast_.size(); ++r) {
      const plan::Planned* planned = fast_[r]->perform(call);
      const plan::Planned* slowly = slow_[r]->perform(call);
      if (planned == nullptr) continue;
      require(same_plan(*planned->plan, *slowly->plan), "the fast path plans the same");
      plans_.push_back(planned->plan);
    }
    if (!plans_.empty()) {
      messages_meet();
      check_reads(call);
    }
    note(call);
    for (std::size_t b = 0; b < shapes_.size(); ++b) check_directories(static_cast<int>(b));
  }

  bool flattened() const { return fast_.front()->flattened() > 0; }

 private:
  struct Flat {  // the directory, byte by byte
    RankSet held = 0;
    RankSet produced = 0;
    int never = 0;
  };

  void require(bool holds, const char* what, Index byte = -1) const {
    if (holds) return;
    std::string text = "not so: " + std::string(what) +
                       (byte < 0 ? "" : " (byte " + std::to_string(byte) + ")") +
                       "\nafter: " + std::to_string(team_.ranks) + " ranks x " +
                       std::to_string(team_.devices) + " devices\n";
    for (const base::Shape& s : shapes_) {
      text += "  " + to_string(s.extents) + " of " + std::to_string(s.element_bytes) + " bytes\n";
    }
    throw Mismatch(text + text_);
  }

  // What r expects from s is what s sends to r: the same boxes in the same order.
  void messages_meet() const {
    const auto between = [](const std::vector<plan::Message>& messages, int peer) {
      std::vector<plan::Message> found;
      for (plan::Message m : messages) {
        if (m.peer.value != peer) continue;
        m.peer = {};
        found.push_back(std::move(m));
      }
      return found;
    };
    for (int r = 0; r < team_.ranks; ++r) {
      const plan::RankPlan& receiver = *plans_[static_cast<std::size_t>(r)];
      require(between(receiver.receives, r).empty() && between(receiver.sends, r).empty(),
              "no rank sends to itself");
      for (int s = 0; s < team_.ranks; ++s) {
        require(between(receiver.receives, s) == between(plans_[static_cast<std::size_t>(s)]->sends, r),
                "ranks receive what is sent to them");
      }
    }
  }

  access::Cut cut_of(const PlannedCall& call) const {
    using Team = plan::LaunchShape::Team;
    if (call.shape.team == Team::every_host) return access::one_part_per_rank(team_.ranks);
    if (call.shape.team == Team::one_host) return access::one_part_on(call.shape.root);
    if (call.shape.team == Team::one_device) {
      return schedule::cut(call.shape.domain, call.shape.block, {1, 1}, "a launch")
          .on({call.shape.device / team_.devices}, call.shape.device % team_.devices);
    }
    return schedule::cut(call.shape.domain, call.shape.block, team_, "a launch");
  }

  // Calls f(rank, byte) for each byte that a part of the rank touches, once.
  template <class F>
  void for_each_touched(const PlannedCall& call, const plan::ArgumentUse& use, F f) const {
    const access::Cut cut = cut_of(call);
    const coherence::Distribution touched(std::make_shared<const access::Cut>(cut), use.map, use.shape,
                                          false);
    SeenBytes seen(team_.ranks, use.shape);
    for (int p = 0; p < cut.parts(); ++p) {
      for (const base::ByteBox& b : touched.boxes(p)) {
        for_each_byte(use.shape, b, [&](Index byte) { seen.insert(cut.rank_of(p).value, byte); });
      }
    }
    seen.for_each(f);
  }

  NaiveDirectory& naive_of(const PlannedCall& call, const plan::ArgumentUse& use) {
    return naive_[static_cast<std::size_t>(call.distinct[static_cast<std::size_t>(use.buffer)])];
  }

  // Every byte comes from a rank that holds it, and arrives at a rank before it is read there.
  void check_reads(const PlannedCall& call) {
    for (std::size_t a = 0; a < call.shape.uses.size(); ++a) {
      const plan::ArgumentUse& use = call.shape.uses[a];
      if (!use.reads && !use.may) continue;
      NaiveDirectory& naive = naive_of(call, use);
      SeenBytes arrived(team_.ranks, use.shape);
      const std::vector<Flat>& before =
          flat_[static_cast<std::size_t>(call.distinct[static_cast<std::size_t>(use.buffer)])];
      for (int r = 0; r < team_.ranks; ++r) note_arrivals(r, static_cast<int>(a), naive, before, arrived);
      bool any = false;
      for_each_touched(call, use, [&](int rank, Index byte) {
        any = true;
        Holders& h = naive.at(byte);
        if (h.ranks == 0) return;
        require((h.ranks & only(rank)) != 0 || arrived.has(rank, byte),
                "bytes are there before they are read", byte);
        h.ranks |= only(rank);
      });
      arrived.for_each([&](int rank, Index byte) {
        require((naive.at(byte).ranks & only(rank)) != 0, "nothing arrives that nobody reads", byte);
      });
      if (any) naive.count_read();
    }
  }

  void note_arrivals(int rank, int argument, NaiveDirectory& naive, const std::vector<Flat>& before,
                     SeenBytes& arrived) const {
    for (const plan::Message& m : plans_[static_cast<std::size_t>(rank)]->receives) {
      if (m.argument != argument) continue;
      for (const auto& item : m.items) {
        for_each_byte(naive.shape(), item.box, [&](Index byte) {
          require((naive.at(byte).ranks & only(m.peer.value)) != 0, "a sender holds what it sends", byte);
          require(arrived.insert(rank, byte), "a byte travels once", byte);
          const bool held = (before[static_cast<std::size_t>(byte)].held & only(rank)) != 0;
          require(!held || may_be_forgotten(naive.at(byte)), "nothing travels to where it is held", byte);
        });
      }
    }
  }

  void note(const PlannedCall& call) {
    const std::int64_t flattened = fast_.front()->flattened();
    RankSet ranks = 0;
    for (int r = call.ranks.begin; r < call.ranks.end; ++r) ranks |= only(r);
    NaiveDirectory& naive = naive_[static_cast<std::size_t>(call.buffer)];
    if (call.kind == PlannedCall::Kind::write_box) {
      for_each_byte(naive.shape(), call.box, [&](Index byte) { naive.write(byte, ranks, flattened); });
    }
    for (Index byte = call.range.begin; byte < call.range.end; ++byte) naive.write(byte, ranks, flattened);
    for (const plan::ArgumentUse& use : call.shape.uses) {
      if (!use.writes) continue;
      for_each_touched(call, use,
                       [&](int rank, Index byte) { naive_of(call, use).write(byte, only(rank), flattened); });
    }
  }

  void check_directories(int b) {
    const coherence::DirectoryState& first = fast_.front()->directory(b);
    NaiveDirectory& naive = naive_[static_cast<std::size_t>(b)];
    const base::Shape& shape = naive.shape();
    for (const auto& rank : fast_) require(rank->directory(b) == first, "all ranks agree on the directory");
    std::vector<Flat>& flat = flat_[static_cast<std::size_t>(b)];
    flat.assign(static_cast<std::size_t>(shape.bytes()), {});
    const auto at = [&](Index byte) -> Flat& { return flat[static_cast<std::size_t>(byte)]; };
    for (int r = 0; r < team_.ranks; ++r) {
      for (const base::ByteBox& box : first.held_by({r}, shape.whole())) {
        for_each_byte(shape, box, [&](Index byte) { at(byte).held |= only(r); });
      }
      for (const base::ByteBox& box : first.produced_by({r})) {
        for_each_byte(shape, box, [&](Index byte) { at(byte).produced |= only(r); });
      }
    }
    for (const base::ByteBox& box : first.never_written(shape.whole())) {
      for_each_byte(shape, box, [&](Index byte) { ++at(byte).never; });
    }
    for (Index byte = 0; byte < shape.bytes(); ++byte) check_byte(naive.at(byte), at(byte), byte);
  }

  // Forgetting the oldest reader, and all of them when layers are flattened, costs a message and nothing else (D4).
  bool may_be_forgotten(const Holders& h) const {
    return h.reads > static_cast<int>(coherence::kMaxReaders) ||
           fast_.front()->flattened() != h.flattened_before;
  }

  void check_byte(const Holders& h, const Flat& flat, Index byte) const {
    require(flat.never == (h.ranks == 0 ? 1 : 0), "what nobody wrote is known, once", byte);
    require((h.ranks == 0) == (flat.produced == 0), "somebody produced what was written", byte);
    require((flat.produced & ~h.ranks) == 0, "who produced a byte holds it", byte);
    require((h.ranks == 0) == (flat.held == 0), "what was written is held", byte);
    require((flat.held & ~h.ranks) == 0, "holders are no more than there are", byte);
    if (!may_be_forgotten(h)) require(flat.held == h.ranks, "no holder is forgotten without need", byte);
  }

  Random random_;
  access::Team team_;
  Taste taste_;
  std::vector<base::Shape> shapes_;
  std::vector<NaiveDirectory> naive_;
  std::vector<std::vector<Flat>> flat_;
  std::vector<std::unique_ptr<PlanningRank>> fast_;
  std::vector<std::unique_ptr<PlanningRank>> slow_;
  std::vector<plan::RankPlanRef> plans_;
  std::string text_;
};

TEST(Directory, SaysOfEachByteWhatANaiveModelSaysAndItsMessagesMeet) {
  int worlds = 0;
  int flattened = 0;
  for_each_seed(2000, [&](std::uint64_t seed) {
    World world(seed);
    const int steps = Random(seed).number(10, 30);
    for (int s = 0; s < steps; ++s) world.step();
    ++worlds;
    if (world.flattened()) ++flattened;
  });
  if (worlds >= 200) {
    EXPECT_GT(flattened, 0) << "no stack of layers grew too high: flattening was not tested";
  }
}

}  // namespace
}  // namespace nuna::property
