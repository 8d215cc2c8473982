#pragma once
// Messages in chunks: while one chunk travels, the next is packed and the one before is unpacked.
//
// Chunks have a lane of their own and come in order. A side whose bytes are one run sends or receives them where they lie; the
// other takes staging blocks, as many as it gets, at least one.

#include <cstdint>
#include <memory>

#include "base/injection.hpp"
#include "cluster/communicator.hpp"
#include "route/table.hpp"
#include "transfer/pieces.hpp"
#include "transfer/staging.hpp"

namespace nuna::transfer {

/// `way`: its chunk size (at most a block) and number of blocks. `work` grows with every chunk.
std::unique_ptr<cluster::Sending> send_pipelined(cluster::Communicator& communicator, base::RankId to,
                                                 const cluster::Envelope& envelope, const Pieces& pieces,
                                                 const route::Step& way, Staging& staging,
                                                 const base::Injection& injection, std::uint64_t& work);
std::unique_ptr<cluster::Receive> receive_pipelined(cluster::Communicator& communicator, base::RankId from,
                                                    const cluster::Envelope& expected, const Pieces& pieces,
                                                    const route::Step& way, Staging& staging, std::uint64_t& work);

}  // namespace nuna::transfer
