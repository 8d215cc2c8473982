#pragma once
// Memories of a machine as people call them, and the pairs of them.

#include <string>
#include <vector>

#include "route/route.hpp"
#include "topology/machine.hpp"

namespace apps {

/// "host", or its device's name: "gpu0"; on a machine of several ranks "rank 1 gpu0".
std::string name_of(const nuna::topology::Machine& machine, const nuna::topology::MemoryId& memory);

/// Every two memories, in the order of the machine: those of one rank, and those of different ranks. Not a memory and itself.
std::vector<nuna::route::Ends> all_pairs(const nuna::topology::Machine& machine);

}  // namespace apps
