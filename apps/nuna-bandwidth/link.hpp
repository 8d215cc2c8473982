#pragma once
// Link: Nuna's transfers between ranks, below a Context: a communicator, neighbours and a carrier of the tool's own, on the
// memories of a Context. So what is compared with messages by hand is the transfer alone.
//
// Threads: the main thread. Creation is collective. Without MPI, or with one rank, carrier() is null.

#include <memory>
#include <string>
#include <vector>

#include "cluster/communicator.hpp"
#include "cluster/neighbours.hpp"
#include "rank_runtime.hpp"
#include "transfer/carrier.hpp"

namespace nuna_bandwidth {

class Link {
 public:
  explicit Link(nuna::detail::RankRuntime& runtime);

  nuna::transfer::Carrier* carrier() const { return carrier_.get(); }
  /// "mapped", "pipelined, 3 blocks of 256 KiB".
  std::string choice(int peer, nuna::Index bytes) const;

  /// Both ends come together; then half a round trip of an empty message, in seconds, measured once a peer.
  void meet(int peer);
  double half_round_trip_s(int peer);
  /// The number of the one that says it, on both ends.
  static int agree(int peer, bool says, int mine);
  /// An empty message.
  static void tell(int peer);
  static void hear(int peer);

 private:
  void connect(nuna::detail::RankRuntime& runtime);

  std::unique_ptr<nuna::cluster::Communicator> communicator_;
  std::unique_ptr<nuna::cluster::Neighbours> neighbours_;
  std::unique_ptr<nuna::transfer::Ways> ways_;
  std::unique_ptr<nuna::transfer::Staging> staging_;
  std::unique_ptr<nuna::transfer::Carrier> carrier_;
  std::vector<double> half_round_trips_s_;  // by peer; negative: not measured
};

}  // namespace nuna_bandwidth
