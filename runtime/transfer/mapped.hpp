#pragma once
// Messages that are read out of the sender's memory: what the sender says, and the two ends.
//
// The sender's message is a Descriptor; what does not fit into it follows in a second one. The receiver's answer is one byte.
// A failure of the bytes travels as the failure of the first message, and is not answered.

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "cluster/communicator.hpp"
#include "cluster/neighbours.hpp"
#include "transfer/pieces.hpp"

namespace nuna::transfer {

/// A piece, by its place in the sender's memory.
struct Whereabouts {
  std::int32_t place = 0;
  Index offset = 0;  ///< from the place's base
  std::array<Index, 3> counts{1, 1, 1};
  std::array<Index, 3> stride_bytes{};
  Index run_bytes = 0;
};

struct Descriptor {
  static constexpr std::size_t kMost = 4;
  std::int64_t pieces = 0;
  std::array<Whereabouts, kMost> first{};  ///< the others follow
};

std::unique_ptr<cluster::Sending> send_mapped(cluster::Communicator& communicator, base::RankId to,
                                              const cluster::Envelope& envelope, const Pieces& pieces,
                                              const std::vector<std::byte*>& bases);
/// `work` grows with every part copied.
std::unique_ptr<cluster::Receive> receive_mapped(cluster::Communicator& communicator, base::RankId from,
                                                 const cluster::Envelope& expected, const Pieces& pieces,
                                                 cluster::PeerMemory& memory, std::uint64_t& work);

}  // namespace nuna::transfer
