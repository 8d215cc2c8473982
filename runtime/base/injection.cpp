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
constexpr std::array<std::string_view, 4> kRoutes = {"mapped", "pipelined", "direct", "staged"};

}  // namespace

Injection Injection::parse(std::string_view text) {
  Injection injection;
  const std::vector<std::string> items = absl::StrSplit(std::string(text), absl::ByAnyChar(", "), absl::SkipEmpty());
  for (const std::string& item : items) {
    const std::pair<std::string, std::string> words = absl::StrSplit(item, absl::MaxSplits(':', 1));
    const auto route = std::find(kRoutes.begin(), kRoutes.end(), words.first);
    const auto fault = std::find_if(kFaults.begin(), kFaults.end(),
                                    [&](const Name& n) { return n.text == words.second; });
    if (route == kRoutes.end() || fault == kFaults.end()) {
      throw Error(ErrorCode::bad_setting,
                  "NUNA_INJECT is \"" + std::string(text) +
                      "\": expected route:fault, with a route of mapped, pipelined, direct, staged and a fault of "
                      "refused, unmapped, lost, wrong, slow");
    }
    injection.faults_.emplace(std::string(*route), fault->fault);
  }
  return injection;
}

}  // namespace nuna::base
