#pragma once
// A machine's description as JSON, with stable keys. Pure.

#include "nuna-info/section.hpp"
#include "topology/machine.hpp"

namespace nuna_info {

/// {name, source, nodes, ranks, buses, memories, devices, between_nodes, links}.
Json to_json(const nuna::topology::Machine& machine);

}  // namespace nuna_info
