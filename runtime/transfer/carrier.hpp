#pragma once
// Carrier: how the bytes of a message get from one rank to another (D9).
//
//   one message   as the communicator sends it, from and into one run of memory
//   mapped        the receiver reads the sender's memory (cluster/neighbours.hpp): the sender says where the bytes lie, the
//                 receiver copies them, whatever their shape, and says when it is done
//   pipelined     in chunks through staging blocks, one packed while others travel; a side whose bytes are one run takes no blocks
//
// Which of them depends on the pair and on the number of bytes, which both ends know; so they choose alike. How a message's
// bytes lie is each side's own affair.
//
// Threads: one at a time (the wire's driver), but for way_to and way_from: any. Progress: only inside test() of what send() and receive()
// returned; a test does what can be done at once, at most about a megabyte of copying. Ownership: pieces must stay
// until their message is done. Failures: as communicator.hpp; a message of which a part is lost is Error (stalled) by whoever
// waits for it.

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/injection.hpp"
#include "cluster/communicator.hpp"
#include "cluster/neighbours.hpp"
#include "transfer/pieces.hpp"
#include "transfer/staging.hpp"
#include "transfer/ways.hpp"

namespace nuna::transfer {

class Carrier {
 public:
  struct Config {
    std::vector<std::byte*> bases;  ///< of this rank's places
    base::Injection injection;
    bool check = false;  ///< sum the bytes on both sides
  };
  /// `ways` are the same on both ends; every kind but mapped and pipelined is one message. `neighbours` is null where no way
  /// is mapped.
  Carrier(Config config, cluster::Communicator& communicator, cluster::Neighbours* neighbours,
          Staging& staging, const Ways& ways)
      : config_(std::move(config)),
        communicator_(communicator),
        neighbours_(neighbours),
        staging_(staging),
        ways_(ways) {}

  /// `one_run`: both ends know that the bytes are one run.
  route::Step way_to(base::RankId peer, Index bytes, bool one_run) const {
    return ways_.to(peer, bytes, one_run);
  }
  route::Step way_from(base::RankId peer, Index bytes, bool one_run) const {
    return ways_.from(peer, bytes, one_run);
  }

  /// `way`: the same on both ends. `pieces` are one run of memory where it is one message.
  std::unique_ptr<cluster::Sending> send(base::RankId to, const cluster::Envelope& envelope,
                                         const Pieces& pieces, const route::Step& way);
  std::unique_ptr<cluster::Receive> receive(base::RankId from, const cluster::Envelope& expected,
                                            const Pieces& pieces, const route::Step& way);

  /// Grows with every piece of work done inside test().
  std::uint64_t work() const { return work_; }
  /// Whether the bytes may stay where they lie, whatever their shape; else they must be one run.
  static bool takes_pieces(const route::Step& way) {
    return way.kind == route::Kind::mapped || way.kind == route::Kind::pipelined;
  }

 private:
  std::unique_ptr<cluster::Sending> sent(base::RankId to, const cluster::Envelope& envelope,
                                         const Pieces& pieces, const route::Step& way);
  std::unique_ptr<cluster::Receive> received(base::RankId from, const cluster::Envelope& expected,
                                             const Pieces& pieces, const route::Step& way);
  bool injected(const route::Step& way, base::Fault fault) const;

  const Config config_;
  cluster::Communicator& communicator_;
  cluster::Neighbours* neighbours_;
  Staging& staging_;
  const Ways& ways_;
  std::uint64_t work_ = 0;
};

}  // namespace nuna::transfer
