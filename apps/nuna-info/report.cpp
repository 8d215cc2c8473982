#include "nuna-info/report.hpp"

#include <cstdio>

#include "base/units.hpp"
#include "nuna-info/machine_json.hpp"
#include "nuna-info/routes.hpp"

namespace nuna_info {
namespace {

std::string indented(const std::string& text) {
  std::string result;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = text.find('\n', at);
    result += "  " + text.substr(at, end - at) + "\n";
    at = end == std::string::npos ? text.size() : end + 1;
  }
  return result;
}

std::string places_text(const std::vector<RankReport>& ranks) {
  std::string text;
  for (const RankReport& rank : ranks) {
    for (const Json& place : rank.facts.at("places")) {
      char line[160];
      std::snprintf(line, sizeof line, "  rank %d place %d  base %-18s %10s of addresses%s%s\n", rank.rank,
                    place.at("place").get<int>(), place.at("base").get<std::string>().c_str(),
                    nuna::base::rounded_bytes(place.at("bytes").get<nuna::Index>()).c_str(),
                    place.at("mapped_by_neighbours").get<bool>() ? ", a file that neighbours can map" : "",
                    place.at("fixed_address").get<bool>() ? "" : ", not at a fixed address");
      text += line;
    }
  }
  return text.empty() ? "" : "places\n" + text + "\n";
}

// Host and limits are printed for rank 0; of the others only what is not alike.
std::string differences_text(const std::vector<RankReport>& ranks) {
  std::string text;
  for (const RankReport& rank : ranks) {
    for (const char* part : {"host", "limits"}) {
      const Json& mine = rank.facts.at(part);
      const Json& first = ranks.front().facts.at(part);
      if (!mine.is_object() || !first.is_object()) continue;
      for (const auto& [key, value] : mine.items()) {
        if (first.contains(key) && first.at(key) == value) continue;
        text += "  rank " + std::to_string(rank.rank) + ": " + key + " " + value.dump() + "\n";
      }
    }
  }
  return text.empty() ? "" : "where ranks differ from rank 0\n" + text + "\n";
}

std::string routes_text(const Findings& findings) {
  if (!findings.machine) return {};
  std::string text;
  for (const RankReport& rank : findings.ranks) {
    for (const Json& routes : rank.facts.at("routes")) text += to_text(routes, *findings.machine);
  }
  return text.empty() ? "" : "routes (the first one is taken)\n" + text + "\n";
}

}  // namespace

Json to_json(const Findings& findings) {
  Json json{
      {"build", to_json(findings.build)}, {"mpi", to_json(findings.mpi)}, {"gpus", to_json(findings.gpus)}};
  json["machine"] = findings.machine ? to_json(*findings.machine) : Json(nullptr);
  json["ranks"] = Json::array();
  for (const RankReport& rank : findings.ranks) json["ranks"].push_back(rank.facts);
  json["problems"] = findings.problems;
  return json;
}

std::string to_text(const Findings& findings) {
  std::string text = to_text(findings.build) + "\n" + to_text(findings.mpi) + "\n" + to_text(findings.gpus) +
                     "\n" + to_text(findings.host) + "\n" + to_text(findings.limits) + "\n" +
                     differences_text(findings.ranks);
  if (findings.machine) text += "machine\n" + indented(nuna::topology::to_string(*findings.machine)) + "\n";
  text += places_text(findings.ranks) + routes_text(findings);
  text.pop_back();  // the last empty line
  return text;
}

Json file_json(const nuna::topology::Machine& machine, const std::vector<nuna::Index>& sizes) {
  Json json{{"machine", to_json(machine)}, {"routes", Json::array()}};
  for (const Routes& routes : routes_of(machine, sizes)) json["routes"].push_back(to_json(routes));
  return json;
}

std::string file_text(const nuna::topology::Machine& machine, const std::vector<nuna::Index>& sizes) {
  std::string text =
      "machine\n" + indented(nuna::topology::to_string(machine)) + "\nroutes (the first one is taken)\n";
  for (const Routes& routes : routes_of(machine, sizes)) text += to_text(to_json(routes), machine);
  return text;
}

}  // namespace nuna_info
