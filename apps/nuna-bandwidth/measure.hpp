#pragma once
// The measuring: experiment by experiment, size by size, scheme by scheme, with Nuna beside it.

#include <cstdint>
#include <vector>

#include "nuna-bandwidth/options.hpp"
#include "nuna-bandwidth/rig.hpp"
#include "nuna-bandwidth/table.hpp"

namespace nuna_bandwidth {

struct Measured {
  std::vector<Row> rows;  ///< on the first rank: all, in the order of experiments and sizes
  std::vector<std::int64_t>
      copy_bytes_per_second;  ///< by place of the first rank: a copy inside it; if asked for
};

/// Collective over all ranks of the Context. `sizes` are alike on all ranks.
Measured measure(nuna::Context& context, const Options& options, const std::vector<nuna::Index>& sizes);

}  // namespace nuna_bandwidth
