#include "route/table.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"

namespace nuna::route {

const char* to_string(Kind kind) {
  switch (kind) {
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
      break;
  }
  return "pipelined";
}

Table::Table(std::vector<Step> steps) : steps_(std::move(steps)) {
  const auto later = [](const Step& a, const Step& b) { return a.from_bytes >= b.from_bytes; };
  base::check(steps_.empty() || steps_.front().from_bytes == 0, "a table of routes begins at no bytes");
  base::check(std::adjacent_find(steps_.begin(), steps_.end(), later) == steps_.end(),
              "the steps of a table of routes ascend");
}

}  // namespace nuna::route
