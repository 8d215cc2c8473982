#pragma once
// What was measured or predicted, and how it is shown: a table for people, JSON for programs. Pure.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "nuna-bandwidth/scheme.hpp"
#include "nuna-bandwidth/statistics.hpp"

namespace nuna_bandwidth {

using Json = nlohmann::ordered_json;

struct Cell {
  Scheme scheme = Scheme::naive;
  Quartiles seconds;
  int samples = 0;  ///< 0: predicted
};

/// One size of one experiment.
struct Row {
  Experiment experiment;
  nuna::Index bytes = 0;  ///< each way
  std::vector<Cell> cells;
  std::optional<Scheme> best;  ///< of those by hand
  Quartiles ratio;             ///< of nuna to the best: above 1 where nuna is quicker
  std::string choice;          ///< which way Nuna took: "mapped"

  const Cell* find(Scheme scheme) const;
};

/// The moved bytes of both directions in a second.
double bytes_per_second(const Row& row, double seconds);

/// The quickest by hand.
std::optional<Scheme> best_of(const std::vector<Cell>& cells);

Json to_json(const Row& row, const nuna::topology::Machine& machine);
/// Of to_json's; the machine is not needed. Throws nlohmann's exceptions for anything else.
Row row_of(const Json& json);

/// A block of lines for each experiment, in the order of the rows.
std::string to_text(const std::vector<Row>& rows, const nuna::topology::Machine& machine);

}  // namespace nuna_bandwidth
