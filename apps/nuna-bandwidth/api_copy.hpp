#pragma once
// A transfer between two ranks through Nuna's public interface: a launch of which one part needs what another part wrote.
//
// Every device of every rank has a block of one buffer. prepare() has each device write its own block; move() launches a kernel
// that reads, on the receiving device, the sender's block. All ranks of the Context make it and call it alike.

#include <optional>

#include "nuna-bandwidth/scheme.hpp"
#include "nuna/nuna.hpp"
#include "rank_runtime.hpp"

namespace nuna_bandwidth {

class ApiCopy {
 public:
  ApiCopy(nuna::Context& context, const Experiment& experiment, nuna::Index bytes);

  bool is_for(const Experiment& experiment, nuna::Index bytes) const {
    return experiment_ == experiment && bytes_ == bytes;
  }
  /// Waits until the blocks are written.
  void prepare();
  /// Waits until the bytes are where they are read.
  void move();

  /// The number of the device that computes in this memory, among those of all ranks; nothing for a host memory in which none
  /// does.
  static std::optional<nuna::Index> part_of(const nuna::detail::RankRuntime& runtime,
                                            const nuna::topology::MemoryId& memory);

 private:
  nuna::Context& context_;
  const Experiment experiment_;
  const nuna::Index bytes_;
  const nuna::Index parts_;
  nuna::Buffer<unsigned char, 1> blocks_;
  nuna::AccessMap needs_;
};

}  // namespace nuna_bandwidth
