#pragma once
// Faults planted on purpose, so that what becomes of them can be seen (NUNA_INJECT).
//
//   NUNA_INJECT="mapped:wrong, staged:slow" ./program
//
// Each kind of route (route/route.hpp) looks here where it could fail in the world. A value; any thread.

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace nuna::base {

enum class Fault : std::uint8_t {
  refused,   ///< the system refuses what the route is made of: a descriptor, locked memory
  unmapped,  ///< it refuses to map memory
  lost,      ///< something never arrives
  wrong,     ///< bytes arrive changed
  slow,      ///< far below what the link should do
};

class Injection {
 public:
  Injection() = default;
  /// "route:fault" pairs with commas between them. Throws Error (bad_setting) for what is neither.
  static Injection parse(std::string_view text);

  bool has(std::string_view route, Fault fault) const { return faults_.contains({std::string(route), fault}); }

 private:
  std::set<std::pair<std::string, Fault>> faults_;
};

}  // namespace nuna::base
