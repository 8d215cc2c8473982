#include "route/table.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/check.hpp"

namespace nuna::route {

const char* to_string(Kind kind) {
  switch (kind) {  // without a default, so that the compiler names a kind that is missing here
    case Kind::same_memory:
      return "same memory";
    case Kind::direct:
      return "direct";
    case Kind::staged:
      return "staged";
    case Kind::mapped:
      return "mapped";
    case Kind::in_place:
      return "in place";
    case Kind::packed:
      return "packed";
    case Kind::pipelined:
      return "pipelined";
  }
  return "unknown";
}

Table::Table(std::vector<Step> steps) : steps_(std::move(steps)) {
  const auto later = [](const Step& a, const Step& b) { return a.from_bytes >= b.from_bytes; };
  base::check(steps_.empty() || steps_.front().from_bytes == 0, "a table of routes begins at no bytes");
  base::check(std::adjacent_find(steps_.begin(), steps_.end(), later) == steps_.end(),
              "the steps of a table of routes ascend");
}

const Step& Table::at(Index bytes) const {
  base::check(!steps_.empty(), "no way leads between these memories");
  base::check(bytes >= 0, "a negative number of bytes to move");
  const auto begins_later = [](Index wanted, const Step& step) { return wanted < step.from_bytes; };
  return *std::prev(std::upper_bound(steps_.begin(), steps_.end(), bytes, begins_later));
}

}  // namespace nuna::route
