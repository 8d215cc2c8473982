#include "base/nearest.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/check.hpp"

namespace nuna::base {
namespace {

// Levenshtein's distance, by the usual two-row recurrence.
std::size_t edits_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string_view nearest(std::string_view name, std::span<const std::string_view> known) {
  check(!known.empty(), "no name is known");
  return *std::min_element(known.begin(), known.end(), [&](std::string_view a, std::string_view b) {
    return edits_between(a, name) < edits_between(b, name);
  });
}

}  // namespace nuna::base
