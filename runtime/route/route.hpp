#pragma once
// Routes: every way on which bytes can get from one memory to another, what each would cost, and why (D9). Pure.
//
//   same_memory  a copy by the memory's own device
//   direct       a device copies between the two memories by itself: host to device, or peer DMA
//   staged       through pinned blocks of the rank's host memory, one being filled while another is emptied
//                (HPE, section 2.4)
//   mapped       the sender's host memory is mapped into the receiver's process, which copies from it; strided boxes, too
//   in_place     one MPI message from and into the memories themselves, if both are one run of bytes
//   packed       packed into a packet, sent as one MPI message, unpacked
//   pipelined    the same in chunks, of which one is packed while others travel and are unpacked
//
// The first three stay inside a rank, the others are between ranks. Costs come from the machine's description
// (topology/machine.hpp), corrected by what was measured; what was tried and failed, or was switched off, stands in Findings.
// Both ends of a pair of ranks hold the same machine and findings, so they choose alike.
//
// What a way costs is the fixed costs of its stages (the copy of a device, the latency of a link or a message) and the bytes
// at each stage's rate; in a pipeline the stages overlap. For two stages with rates a <= b and a fixed cost o per block this
// is about bytes / a + (bytes / c) * o + c / b with chunks of c bytes, so that the best chunk is near sqrt(bytes * o * b). It
// is chosen among the least chunk and its doublings up to the most: a pool can reuse such blocks, and the predicted time
// never falls when bytes grow.
//
// Threads: values and pure functions. Failure: none; two memories that the description does not connect have no way that
// is possible, and the reasons say so.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "nuna/box.hpp"
#include "route/table.hpp"
#include "topology/machine.hpp"

namespace nuna::route {

/// From one memory to another.
struct Ends {
  topology::MemoryId from;
  topology::MemoryId to;
  auto operator<=>(const Ends&) const = default;
};

/// What was tried, or switched off, beyond what the machine's description says.
class Findings {
 public:
  /// This way does not work between these memories; the first reason stays. Every pair: refuse_all().
  void refuse(const Ends& ends, Kind kind, const std::string& why);
  void refuse_all(Kind kind, const std::string& why);
  /// What this way really moved, above 0; the newest counts. Fixed costs stay the description's.
  void measured(const Ends& ends, Kind kind, std::int64_t bytes_per_second);

  const std::string* refused(const Ends& ends, Kind kind) const;
  const std::int64_t* measured(const Ends& ends, Kind kind) const;
  friend bool operator==(const Findings&, const Findings&) = default;

 private:
  using Key = std::pair<Ends, Kind>;
  std::map<Kind, std::string> refused_everywhere_;
  std::map<Key, std::string> refused_;
  std::map<Key, std::int64_t> measured_;
};

/// What is to be moved.
struct Load {
  Index bytes = 0;
  bool from_contiguous = true;  ///< one run of bytes
  bool to_contiguous = true;
};

/// What the staging pool has to give: 1 <= least <= most.
struct Limits {
  Index least_chunk_bytes = Index{64} << 10;
  Index most_chunk_bytes = Index{1} << 20;
  int most_blocks = 3;  ///< of one transfer: two overlap two stages, three overlap three
  /// Smaller messages are mapped only if there is no other way: they would keep the sender's memory busy until the answer,
  /// and gain nothing (MPI buffers them).
  Index least_mapped_bytes = Index{4} << 10;
};

struct Way {
  Kind kind = Kind::direct;
  bool possible = false;
  Index chunk_bytes = 0;          ///< staged, pipelined; else 0. What is no larger goes as one chunk
  int blocks = 0;                 ///< the same: how many the transfer uses, 1 for one chunk
  std::int64_t predicted_ps = 0;  ///< 0 if it is not possible
  std::string reason;             ///< what makes it possible and bounds its speed, or why it is not possible
};

/// All kinds between the two: those that are possible first, the quickest of them in front (of equals, the first of Kind; below
/// Limits::least_mapped_bytes mapped comes last), then the others in the order of Kind.
std::vector<Way> ways(const topology::Machine& machine, const Findings& findings, const Ends& ends,
                      const Load& load, const Limits& limits = {});

/// The best way as a function of the size; empty if there is no way. Looks at the powers of two up to 2^40 and, where two
/// neighbours differ, for the byte at which the choice changes: what rules only between two neighbours that agree is not found.
Table table_of(const topology::Machine& machine, const Findings& findings, const Ends& ends, bool contiguous,
               const Limits& limits = {});

}  // namespace nuna::route
