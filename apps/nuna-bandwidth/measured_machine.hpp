#pragma once
// The machine as it was measured: a description whose figures come from the rows. Pure.
//
// Of a link: the rate of the largest size, and as latency what the smallest takes beyond its bytes. What was measured on the
// first rank, or between the first two ranks of a node, holds for all that are alike; what was not measured stays.

#include <cstdint>
#include <string>
#include <vector>

#include "nuna-bandwidth/table.hpp"
#include "topology/machine.hpp"

namespace nuna_bandwidth {

/// `copies`: by place of the first rank.
nuna::topology::Machine measured_machine(nuna::topology::Machine machine, const std::vector<Row>& rows,
                                         const std::vector<std::int64_t>& copies, const std::string& source);

}  // namespace nuna_bandwidth
