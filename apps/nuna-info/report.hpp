#pragma once
// The whole report, as text or as one JSON object. Pure.

#include <string>
#include <vector>

#include "nuna-info/collect.hpp"
#include "nuna-info/section.hpp"
#include "topology/machine.hpp"

namespace nuna_info {

/// {build, mpi, machine, ranks, problems}; `machine` is null where no Context could be made.
Json to_json(const Findings& findings);
std::string to_text(const Findings& findings);

/// Of a machine file: {machine, routes}.
Json file_json(const nuna::topology::Machine& machine, const std::vector<nuna::Index>& sizes);
std::string file_text(const nuna::topology::Machine& machine, const std::vector<nuna::Index>& sizes);

}  // namespace nuna_info
