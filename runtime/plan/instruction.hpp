#pragma once
// Instructions: what one rank does for one launch, as values. Made by the planner (between ranks) and lowered by
// residency (between places of the rank); carried out by an executor.

#include <absl/container/inlined_vector.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "access/cut.hpp"
#include "base/boxes.hpp"
#include "base/ids.hpp"
#include "nuna/box.hpp"

namespace nuna::plan {

/// From this size on a message that is one run of bytes in memory travels without being packed.
inline constexpr Index kInPlaceBytes = Index{128} << 10;

/// One message of a launch: the boxes of one argument's buffer that go from one rank to another, packed in this order
/// on both sides (D5).
struct Message {
  base::RankId peer;
  int argument = 0;
  struct Item {
    int reader_part = 0;  ///< the receiver's part that reads it
    base::ByteBox box;
    friend bool operator==(const Item&, const Item&) = default;
  };
  std::vector<Item> items;

  Index bytes() const {
    Index sum = 0;
    for (const Item& i : items) sum += i.box.bytes();
    return sum;
  }
  friend bool operator==(const Message&, const Message&) = default;
};

/// A part of the launch that this rank runs.
struct PartRun {
  int part = 0;
  int slot = 0;  ///< which of the rank's devices
  Box threads;
};

/// What the parts of this rank touch, per argument.
struct Touch {
  int part = 0;
  base::BoxList boxes;
};
struct ArgumentEffect {
  std::vector<Touch> reads;  ///< fetched before: reads and may-writes
  std::vector<Touch> writes;
  base::BoxList overwritten;    ///< by any rank: what this rank held of it is no longer the newest
  bool undefined_read = false;  ///< some of what is read was never written
  base::ByteBox undefined;      ///< the first such box
};

/// What one rank does for one launch, before its places are known.
struct RankPlan {
  std::vector<Message> receives;  ///< by argument, then by peer in order of the first item
  std::vector<Message> sends;     ///< by argument, then by peer
  std::vector<PartRun> runs;
  std::vector<ArgumentEffect> effects;  ///< per argument
  access::CutRef cut;                   ///< what the runs are parts of
};
using RankPlanRef = std::shared_ptr<const RankPlan>;

/// A box of an instance of argument `argument` in `place`.
struct PlacedBox {
  int argument = 0;
  base::PlaceId place;
  base::ByteBox box;
  friend bool operator==(const PlacedBox&, const PlacedBox&) = default;
};

enum class Kind : std::uint8_t { receive, send, copy, run, fill };
/// What is written over stale bytes where reading them is to be seen: a NaN as a float or double.
inline constexpr std::byte kPoison{0xff};
const char* to_string(Kind kind);

/// One step on places. `reads` and `writes` are all that it touches and order it against its neighbours.
struct Instruction {
  Kind kind = Kind::run;
  base::RankId peer;          ///< receive, send
  std::uint32_t message = 0;  ///< receive, send: number within the launch, the same on both sides
  bool one_run = false;  ///< receive, send: the message is one run of the buffer's bytes, as both ends know
  int slot = 0;          ///< run: the device
  base::PlaceId place;   ///< run: its memory; arguments whose boxes lie in another place are used there
  std::byte value = kPoison;  ///< fill: of each byte
  Box threads;                ///< run: any box of the partition's threads
  absl::InlinedVector<PlacedBox, 4>
      reads;  ///< copy: one, of the size of what it writes; send: in packing order
  absl::InlinedVector<PlacedBox, 4> writes;  ///< copy, fill: one; receive: in packing order
  friend bool operator==(const Instruction&, const Instruction&) = default;
};

/// A launch's instructions on one rank, in an order in which they may be started.
struct PlacePlan {
  std::vector<Instruction> instructions;
  int arguments = 0;
};
using PlacePlanRef = std::shared_ptr<const PlacePlan>;

}  // namespace nuna::plan
