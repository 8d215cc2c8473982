#include "nuna-info/routes.hpp"

#include <cstdio>

#include "base/units.hpp"
#include "common/memories.hpp"

namespace nuna_info {
namespace {

using nuna::topology::MemoryId;

Json to_json(const MemoryId& memory) { return {{"rank", memory.rank.value}, {"place", memory.place.value}}; }

MemoryId memory_of(const Json& json) {
  return {{json.at("rank").get<std::int32_t>()}, {json.at("place").get<std::int32_t>()}};
}

Json to_json(const nuna::route::Way& way) {
  Json json{{"kind", nuna::route::to_string(way.kind)}, {"possible", way.possible}};
  if (way.possible) json["predicted_ps"] = way.predicted_ps;
  if (way.possible && way.chunk_bytes > 0) {
    json["chunk_bytes"] = way.chunk_bytes;
    json["blocks"] = way.blocks;
  }
  json["reason"] = way.reason;
  return json;
}

std::string line_of(const Json& way, const std::string& size) {
  char line[64];
  const bool possible = way.at("possible").get<bool>();
  const std::string time =
      possible ? nuna::base::rounded_picoseconds(way.at("predicted_ps").get<std::int64_t>()) : "not possible";
  std::snprintf(line, sizeof line, "    %8s  %-12s %12s  ", size.c_str(),
                way.at("kind").get<std::string>().c_str(), time.c_str());
  return line + way.at("reason").get<std::string>() + "\n";
}

bool first(const Json& way, const Json& choice) { return &way == &choice.at("ways").front(); }

// Where the runtime does not take the way that is the quickest between these two.
std::string difference(const Json& choice, const std::string& size) {
  const auto taken = choice.find("taken");
  if (taken == choice.end() || *taken == choice.at("ways").front().at("kind")) return {};
  return "    " + size + ": messages go " + taken->get<std::string>() +
         ", as between the ranks' host memories\n";
}

}  // namespace

nuna::route::Load load_of(const nuna::route::Ends& ends, nuna::Index bytes) {
  const bool one_run = ends.from.rank == ends.to.rank;
  return {bytes, one_run, one_run};
}

std::vector<Routes> routes_of(const nuna::topology::Machine& machine, const std::vector<nuna::Index>& sizes) {
  std::vector<Routes> all;
  for (const nuna::route::Ends& ends : apps::all_pairs(machine)) {
    Routes routes{ends, {}};
    for (const nuna::Index bytes : sizes)
      routes.choices.push_back({bytes, nuna::route::ways(machine, {}, ends, load_of(ends, bytes)), ""});
    all.push_back(std::move(routes));
  }
  return all;
}

Json to_json(const Routes& routes) {
  Json json{{"from", to_json(routes.ends.from)}, {"to", to_json(routes.ends.to)}, {"sizes", Json::array()}};
  for (const Choice& choice : routes.choices) {
    Json ways = Json::array();
    for (const auto& way : choice.ways) ways.push_back(to_json(way));
    Json entry{{"bytes", choice.bytes}, {"ways", std::move(ways)}};
    if (!choice.taken.empty()) entry["taken"] = choice.taken;
    json["sizes"].push_back(std::move(entry));
  }
  return json;
}

std::string to_text(const Json& routes, const nuna::topology::Machine& machine) {
  std::string text = "  " + apps::name_of(machine, memory_of(routes.at("from"))) + " -> " +
                     apps::name_of(machine, memory_of(routes.at("to"))) + "\n";
  for (const Json& choice : routes.at("sizes")) {
    const std::string size = nuna::base::rounded_bytes(choice.at("bytes").get<nuna::Index>());
    for (const Json& way : choice.at("ways")) {
      if (!way.at("possible").get<bool>()) continue;
      text += line_of(way, first(way, choice) ? size : "");
    }
    text += difference(choice, size);
  }
  for (const Json& way : routes.at("sizes").back().at("ways")) {
    if (!way.at("possible").get<bool>()) text += line_of(way, "");
  }
  return text;
}

}  // namespace nuna_info
