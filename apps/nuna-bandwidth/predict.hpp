#pragma once
// What the schemes should reach on a machine, by the formulas of the route model (route/course.hpp). Pure.
//
// One way only: the model knows of no contention.

#include <optional>
#include <vector>

#include "nuna-bandwidth/scheme.hpp"
#include "nuna-bandwidth/table.hpp"

namespace nuna_bandwidth {

/// Of a pipeline by hand: the two blocks of HPE, section 2.4, are 2 MiB; smaller messages are cut into four.
nuna::Index block_bytes(nuna::Index bytes, nuna::Index most_bytes);
inline constexpr nuna::Index kMostBlockBytes = nuna::Index{2} << 20;

/// Nothing where the scheme cannot be written, or no way leads there.
std::optional<double> predicted_seconds(const nuna::topology::Machine& machine, const nuna::route::Ends& ends,
                                        Scheme scheme, nuna::Index bytes);

/// For the experiments of the machine that go one way.
std::vector<Row> predicted(const nuna::topology::Machine& machine, const std::vector<nuna::Index>& sizes,
                           const std::vector<Scheme>& wanted, bool all);

}  // namespace nuna_bandwidth
