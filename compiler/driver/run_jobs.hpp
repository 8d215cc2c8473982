#pragma once
// Carries out what jobs.hpp plans.

#include <string>
#include <vector>

#include "driver/jobs.hpp"

namespace nuna::compiler {

struct Manner {
  bool verbose = false;    ///< print each command
  bool dry_run = false;    ///< print only
  bool resources = false;  ///< print what kernels need
  std::string temporary;
  std::string model;  ///< a file for what all kernels touch; "" for none
};

/// Returns the exit status of nunacc: 0, or that of the first job that failed.
int run_jobs(const std::vector<Job>& jobs, const Manner& manner);

}  // namespace nuna::compiler
