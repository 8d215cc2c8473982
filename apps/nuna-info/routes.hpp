#pragma once
// Routes between every two memories, at some sizes: all ways, the chosen one first. Pure.

#include <string>
#include <vector>

#include "nuna-info/section.hpp"
#include "route/route.hpp"
#include "topology/machine.hpp"

namespace nuna_info {

struct Choice {
  nuna::Index bytes = 0;
  std::vector<nuna::route::Way> ways;  ///< as route::ways sorts them
  std::string taken;  ///< by the messages of a run, if known; they choose by the host memories
};
struct Routes {
  nuna::route::Ends ends;
  std::vector<Choice> choices;  ///< by size, ascending
};

/// For a machine that nobody runs on.
std::vector<Routes> routes_of(const nuna::topology::Machine& machine, const std::vector<nuna::Index>& sizes);

/// What is to be moved between two memories: one run of bytes within a rank, pieces between ranks, as the runtime has them.
nuna::route::Load load_of(const nuna::route::Ends& ends, nuna::Index bytes);

Json to_json(const Routes& routes);
/// The ways that are not possible are told once a pair, not once a size. From JSON, so that a rank can print another's.
std::string to_text(const Json& routes, const nuna::topology::Machine& machine);

}  // namespace nuna_info
