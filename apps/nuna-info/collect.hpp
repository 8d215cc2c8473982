#pragma once
// What each rank finds, brought together on the first.
//
// A machine on which no Context can be made is told of all the same: what failed is a problem, one line.

#include <optional>
#include <string>
#include <vector>

#include "nuna-info/options.hpp"
#include "nuna-info/section.hpp"
#include "topology/machine.hpp"

namespace nuna_info {

/// One rank's findings, as they travel.
struct RankReport {
  int rank = 0;
  Json facts;  ///< {rank, host, limits, places, routes, problems}
};

struct Findings {
  bool first_rank = true;  ///< else the rest is empty: rank 0 has it
  std::optional<nuna::topology::Machine> machine;
  Section build;
  Section mpi;
  Section gpus;    ///< that this process sees
  Section host;    ///< of rank 0
  Section limits;  ///< of rank 0
  std::vector<RankReport> ranks;
  std::vector<std::string> problems;  ///< of all ranks
};

/// Collective under MPI. Throws nuna::Error only for what the user asked wrongly.
Findings collect(const Options& options);

/// What this program was built with.
Section describe_build();
Section describe_gpus();

}  // namespace nuna_info
