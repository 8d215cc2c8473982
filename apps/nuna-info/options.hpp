#pragma once
// The command line of nuna-info.

#include <optional>
#include <string>
#include <vector>

#include "nuna/box.hpp"

namespace nuna_info {

struct Options {
  int devices = 0;  ///< of each rank; 0: from the environment
  int ranks = 0;    ///< 0: of the launcher (MPI), or one; otherwise ranks inside this process
  bool routes = false;
  bool json = false;
  std::vector<nuna::Index> sizes;  ///< of what the routes are to move
  std::string machine_file;        ///< empty: this run
};

/// The options, or nothing when the program ends here (`exit_code` says how: --help, --version, or a mistake that was
/// printed).
std::optional<Options> parse_options(int argc, const char* const* argv, int& exit_code);

}  // namespace nuna_info
