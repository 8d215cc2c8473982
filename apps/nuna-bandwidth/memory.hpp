#pragma once
// The memory that is measured, and the memory that programs written by hand stage through.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "nuna/box.hpp"
#include "rank_runtime.hpp"

namespace nuna_bandwidth {

/// Host memory outside of Nuna, populated. `pinned`: locked, as far as the limit on locked memory allows.
class HostBuffer {
 public:
  /// Throws nuna::Error (out_of_memory).
  HostBuffer(nuna::Index bytes, bool pinned);
  ~HostBuffer();
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;
  std::byte* data() const { return first_; }
  bool locked() const { return locked_; }

 private:
  std::size_t bytes_;
  std::byte* first_ = nullptr;
  bool locked_ = false;
};

/// In every place of the rank: bytes to be sent, and as many to be received, at the same offsets. The runtime outlives it.
class PlaceBuffers {
 public:
  /// Throws nuna::Error (out_of_memory).
  PlaceBuffers(nuna::detail::RankRuntime& runtime, nuna::Index bytes);
  ~PlaceBuffers();
  PlaceBuffers(const PlaceBuffers&) = delete;
  PlaceBuffers& operator=(const PlaceBuffers&) = delete;

  std::byte* out(nuna::base::PlaceId place) const { return runtime_.slots().base(place) + out_; }
  std::byte* in(nuna::base::PlaceId place) const { return runtime_.slots().base(place) + in_; }

 private:
  void release();

  nuna::detail::RankRuntime& runtime_;
  const nuna::Index bytes_;
  nuna::Index out_ = 0;
  nuna::Index in_ = 0;
};

/// What a run takes of one node for each byte of the largest size.
int bytes_per_byte(int places, int ranks_on_node);
/// Those that a node with so much memory left has room for, with a third to spare; at least the smallest.
std::vector<nuna::Index> that_fit(const std::vector<nuna::Index>& sizes, std::int64_t available_bytes,
                                  int places, int ranks_on_node);
/// Of this node, as the kernel estimates it (MemAvailable), or of the cgroup; 0 if unknown.
std::int64_t available_bytes();

}  // namespace nuna_bandwidth
