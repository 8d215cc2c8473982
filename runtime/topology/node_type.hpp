#pragma once
// A type of node as people describe it - so many sockets, cores, ranks, buses and devices - and what it is in a Machine.
//
// Threads: values and functions of their arguments. Failure: nuna::Error (bad_setting), as of sections.hpp.

#include "topology/machine_draft.hpp"
#include "topology/sections.hpp"

namespace nuna::topology {

/// { bandwidth, latency }, below the key `name`; nothing if there is none.
std::optional<Speed> read_speed(const Section& section, std::string_view name);

/// Adds the nodes that a [[node]] stands for, with their ranks and all that these have (docs/machine-files.md).
void add_nodes(MachineDraft& draft, const Section& section);

}  // namespace nuna::topology
