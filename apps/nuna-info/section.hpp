#pragma once
// What nuna-info tells, section by section: facts that are printed as lines or as JSON. Values.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace nuna_info {

using Json = nlohmann::ordered_json;

/// One fact. `advice` is not empty where something should be done: what, and why.
struct Fact {
  std::string key;   ///< of the JSON object: "max_map_count"
  std::string name;  ///< for people: "vm.max_map_count"
  Json value;
  std::string words;  ///< for people: "65530 mappings"
  std::string advice;
};

struct Section {
  std::string key;
  std::string title;
  std::vector<Fact> facts;
};

/// {key: value, ...}; a fact with advice has it as "<key>_advice".
Json to_json(const Section& section);

/// The title, then a line a fact, and below it its advice.
std::string to_text(const Section& section);

}  // namespace nuna_info
