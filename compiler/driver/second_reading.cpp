#include "driver/second_reading.hpp"

#include <regex>
#include <set>
#include <sstream>

#include "driver/diagnostics_text.hpp"
#include "driver/spaced_launches.hpp"

namespace nuna::compiler {

namespace {

constexpr const char* kNoReferences = "-DNUNA_NO_TEXTURE_REFERENCES=1";

std::string quoted_json(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

}  // namespace

bool SecondReading::learn(const std::string& diagnostics, const ReadFile& read) {
  static const std::regex place(R"(^(\S.*?):\d+:\d+: (error|note): (.*))");
  static const std::regex own_name(R"('(::)?(texture|surface)')");
  bool learned = false;
  std::set<std::string> seen;
  std::istringstream lines(without_colours(diagnostics));
  for (std::string line; std::getline(lines, line);) {
    std::smatch parts;
    if (!std::regex_match(line, parts, place)) continue;
    const std::string path = parts[1];
    if (options_.empty() && parts[2] == "error" &&
        std::regex_search(parts[3].first, parts[3].second, own_name)) {
      options_.emplace_back(kNoReferences);
      learned = true;
    }
    if (files_.count(path) != 0 || !seen.insert(path).second) continue;
    if (auto closed = close_spaced_launches(read(path))) {
      files_[path] = std::move(*closed);
      learned = true;
    }
  }
  return learned;
}

std::string overlay_text(const std::map<std::string, std::string>& files_by_name) {
  std::string text = R"({"version": 0, "use-external-names": false, "roots": [)";
  const char* separator = "";
  for (const auto& [name, file] : files_by_name) {
    text += separator + std::string("{\"type\": \"file\", \"name\": ") + quoted_json(name) +
            ", \"external-contents\": " + quoted_json(file) + "}";
    separator = ",\n";
  }
  return text + "]}\n";
}

}  // namespace nuna::compiler
