#include "nuna-info/section.hpp"

#include <algorithm>

namespace nuna_info {

Json to_json(const Section& section) {
  Json json = Json::object();
  for (const Fact& fact : section.facts) {
    json[fact.key] = fact.value;
    if (!fact.advice.empty()) json[fact.key + "_advice"] = fact.advice;
  }
  return json;
}

std::string to_text(const Section& section) {
  std::size_t width = 0;
  for (const Fact& fact : section.facts) width = std::max(width, fact.name.size());
  std::string text = section.title + "\n";
  for (const Fact& fact : section.facts) {
    text += "  " + fact.name + std::string(width - fact.name.size() + 2, ' ') + fact.words + "\n";
    if (!fact.advice.empty()) text += "    ! " + fact.advice + "\n";
  }
  return text;
}

}  // namespace nuna_info
