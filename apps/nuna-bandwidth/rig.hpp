#pragma once
// Rig: everything that one rank needs to move bytes by any scheme, and to time one transfer.
//
// Threads: the main thread. Creation is collective. Failures: nuna::Error, of memory and of lost ranks.

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "nuna-bandwidth/copies.hpp"
#include "nuna-bandwidth/link.hpp"
#include "nuna-bandwidth/memory.hpp"
#include "nuna-bandwidth/messages.hpp"
#include "nuna-bandwidth/scheme.hpp"
#include "nuna/nuna.hpp"

namespace nuna_bandwidth {

class ApiCopy;

class Rig {
 public:
  /// `most_block_bytes`: of double buffering; its blocks of small messages are smaller.
  Rig(nuna::Context& context, nuna::Index most_bytes, nuna::Index most_block_bytes);
  ~Rig();
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;

  /// Whether this rank has a part in it, and whether it is the one that knows the time.
  bool takes_part(const Experiment& experiment) const;
  bool keeps_time(const Experiment& experiment) const { return experiment.ends.from.rank == runtime_.rank(); }

  /// One transfer, by both ranks of the experiment: its seconds, where time is kept; else 0. Between ranks until the receiver has
  /// all bytes, as the sender knows: less half a round trip of an empty message.
  double time(const Experiment& experiment, Scheme scheme, nuna::Index bytes);
  /// The same, and whether the bytes arrived. Throws nuna::Error (unsupported) that names the scheme if they did not.
  double prove(const Experiment& experiment, Scheme scheme, nuna::Index bytes);
  /// A copy inside one of this rank's memories.
  double time_within_place(nuna::base::PlaceId place, nuna::Index bytes);

  /// Whether the public interface can make this transfer: between memories that devices compute in.
  bool has_api(const Experiment& experiment) const;
  std::string choice(const Experiment& experiment, nuna::Index bytes) const;

  /// A number from the rank that keeps time to the other one.
  int agree(const Experiment& experiment, int mine);

 private:
  struct Direction;
  std::vector<Leg> legs(const Experiment& experiment) const;
  double time_copy(const std::vector<Leg>& legs, Scheme scheme, nuna::Index bytes) const;
  double time_message(const Experiment& experiment, Scheme scheme, nuna::Index bytes);
  double time_api(const Experiment& experiment, nuna::Index bytes);
  End end_of(const Direction& direction, bool sends) const;
  std::vector<Direction> directions(const Experiment& experiment) const;
  int other_end(const Experiment& experiment) const;
  nuna::Index block_of(nuna::Index bytes) const;

  nuna::Context& context_;
  nuna::detail::RankRuntime& runtime_;
  const nuna::Index most_block_bytes_;
  PlaceBuffers places_;
  std::array<HostBuffer, 2> unpinned_;  // of each direction
  std::array<HostBuffer, 2> pinned_;
  Link link_;
  std::vector<std::uint64_t> messages_;  // by peer
  std::unique_ptr<ApiCopy> api_;
  unsigned char stamp_ = 0;
};

}  // namespace nuna_bandwidth
