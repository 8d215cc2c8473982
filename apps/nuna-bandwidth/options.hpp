#pragma once
// The command line of nuna-bandwidth.

#include <optional>
#include <string>
#include <vector>

#include "nuna-bandwidth/scheme.hpp"

namespace nuna_bandwidth {

struct Options {
  int devices = 0;                 ///< of each rank; 0: NUNA_DEVICES, or two
  std::vector<nuna::Index> sizes;  ///< ascending
  std::vector<Scheme> schemes;
  nuna::Index block_bytes = 0;  ///< most of a block of double buffering
  double budget_s = 0.0;
  bool all = false;
  std::string json_file;
  std::string chart_file;
  std::string write_machine_file;
  std::string machine_file;  ///< empty: this run is measured
};

/// The options, or nothing when the program ends here (`exit_code` says how).
std::optional<Options> parse_options(int argc, const char* const* argv, int& exit_code);

}  // namespace nuna_bandwidth
