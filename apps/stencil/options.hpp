#pragma once
// The command line.

#include <cstdint>
#include <optional>
#include <string>

#include "stencil/experiment.hpp"
#include "stencil/velocity_model.hpp"

namespace stencil {

struct Options {
  int devices = 0;            ///< of each rank; 0: from the environment
  int ranks = 0;              ///< 0: of the launcher (MPI), or one; otherwise ranks inside this process
  std::string velocity_file;  ///< empty: a model made here
  VelocityUnit unit = VelocityUnit::metres_per_second;
  std::optional<double> constant_m_s;
  Shape shape{401, 201, 0};
  std::int64_t extrude = 9;
  double spacing_m = 10.0;
  Choices choices;
  std::string output = "stencil";  ///< how the names of the output files begin; empty: no files
  bool verify = false;
  bool json = false;
};

/// The options, or nothing when the run ends here (`exit_code` says how: --help, or a mistake that was
/// printed). Throws nuna::Error(invalid_argument) for options that make no sense together.
std::optional<Options> parse_options(int argc, const char* const* argv, int& exit_code);

/// Loads or makes the model that the options ask for.
VelocityModel make_model(const Options& options);

}  // namespace stencil
