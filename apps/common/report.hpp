#pragma once
// The JSON object that every program prints as its last line with --json.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "nuna/context.hpp"

namespace apps {

/// What one run reports. Value type; filled by the program, printed by rank 0.
struct Report {
  std::string app;
  int ranks = 1;
  int devices = 1;              ///< of each rank
  double seconds = 0.0;         ///< of the work itself, without reading, checking and writing
  double transfer_share = 0.0;  ///< of that time, spent in transfers: the largest of all ranks
  nlohmann::json bytes_by_route = nlohmann::json::object();  ///< summed over the ranks
  std::optional<bool> verified;                              ///< unset: nobody checked
  bool dry_run = false;                            ///< nothing was computed: the figures mean nothing
  nlohmann::json more = nlohmann::json::object();  ///< the program's own keys

  /// One line, without the newline; the shared keys come first.
  std::string to_line() const;
};

/// Fills ranks, devices, dry_run, transfer_share and bytes_by_route from the Context's counters. Replicated.
void add_counters(Report& report, nuna::Context& context);

}  // namespace apps
