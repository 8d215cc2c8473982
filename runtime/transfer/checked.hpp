#pragma once
// Messages whose bytes are summed on both sides (NUNA_CHECK): what changes on the way is an error, not a wrong result.
//
// The sender's sum follows in a lane of its own. It costs a pass over the bytes on each side.

#include <memory>

#include "cluster/communicator.hpp"
#include "transfer/pieces.hpp"

namespace nuna::transfer {

/// `wrong`: sends the sum of other bytes, as if these had changed.
std::unique_ptr<cluster::Sending> with_sum(std::unique_ptr<cluster::Sending> sending,
                                           cluster::Communicator& communicator, base::RankId to,
                                           const cluster::Envelope& envelope, const Pieces& pieces,
                                           bool wrong);
/// test() throws Error (input_output) when the sums differ.
std::unique_ptr<cluster::Receive> with_sum(std::unique_ptr<cluster::Receive> receive,
                                           cluster::Communicator& communicator, base::RankId from,
                                           const cluster::Envelope& expected, const Pieces& pieces);

}  // namespace nuna::transfer
