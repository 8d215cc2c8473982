#include "base/injection.hpp"

#include <absl/strings/str_split.h>

#include <algorithm>
#include <array>
#include <vector>

#include "nuna/error.hpp"

namespace nuna::base {
namespace {

struct Name {
  std::string_view text;
  Fault fault;
};
constexpr std::array kFaults = {Name{"refused", Fault::refused}, Name{"unmapped", Fault::unmapped},
                                Name{"lost", Fault::lost}, Name{"wrong", Fault::wrong},
                                Name{"slow", Fault::slow}};
constexpr std::array<std::string_view, 5> kRoutes = {"mapped", "pipelined", "packed", "direct", "staged"};

// What can happen to a route: a message by MPI is lost or wrong, only memory of neighbours is mapped, only staging is locked.
bool can_fail(std::string_view route, Fault fault) {
  if (route == "pipelined" || route == "packed") return fault == Fault::lost || fault == Fault::wrong;
  if (fault == Fault::unmapped) return route == "mapped";
  if (fault == Fault::refused) return route == "mapped" || route == "staged";
  return true;
}

}  // namespace

Injection Injection::parse(std::string_view text) {
  Injection injection;
  const std::vector<std::string> items =
      absl::StrSplit(std::string(text), absl::ByAnyChar(", "), absl::SkipEmpty());
  for (const std::string& item : items) {
    const std::pair<std::string, std::string> words = absl::StrSplit(item, absl::MaxSplits(':', 1));
    const auto route = std::find(kRoutes.begin(), kRoutes.end(), words.first);
    const auto fault =
        std::find_if(kFaults.begin(), kFaults.end(), [&](const Name& n) { return n.text == words.second; });
    if (route == kRoutes.end() || fault == kFaults.end() || !can_fail(*route, fault->fault)) {
      throw Error(ErrorCode::bad_setting,
                  "NUNA_INJECT is \"" + std::string(text) +
                      "\": expected route:fault of mapped:refused, unmapped, lost, wrong, slow; pipelined or "
                      "packed:lost, "
                      "wrong; direct:lost, wrong, slow; staged:refused, lost, wrong, slow");
    }
    injection.faults_.emplace(std::string(*route), fault->fault);
  }
  return injection;
}

}  // namespace nuna::base
