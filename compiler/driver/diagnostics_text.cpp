#include "driver/diagnostics_text.hpp"

#include <regex>
#include <set>
#include <sstream>
#include <vector>

namespace nuna::compiler {

namespace {

struct Diagnostic {
  std::string head;  ///< the line that says what is wrong
  std::string text;  ///< all of it
};

bool is_head(const std::string& line) {
  static const std::regex form(R"(^(\S.*:\d+:\d+|clang\S*|<\S+>): (fatal error|error|warning|remark): .*)");
  return std::regex_match(line, form);
}
bool is_count(const std::string& line) {
  static const std::regex form(
      R"(^\d+ (error|warning)s?( and \d+ errors?)? generated( when compiling for .*)?\.$)");
  return std::regex_match(line, form);
}

std::vector<Diagnostic> parted(const std::string& text) {
  std::vector<Diagnostic> all;
  std::istringstream lines(text);
  std::string before;  // "In file included from ..." belongs to what follows
  for (std::string line; std::getline(lines, line);) {
    if (is_count(line)) continue;
    if (line.rfind("In file included from ", 0) == 0 || line.rfind("                 from ", 0) == 0) {
      before += line + "\n";
    } else if (is_head(line) || all.empty()) {
      all.push_back({line, before + line + "\n"});
      before.clear();
    } else {
      all.back().text += before + line + "\n";
      before.clear();
    }
  }
  return all;
}

}  // namespace

std::string only_of_device(const std::string& device, const std::string& host) {
  std::set<std::string> said;
  for (const auto& diagnostic : parted(host)) said.insert(diagnostic.head);
  std::string rest;
  for (const auto& diagnostic : parted(device)) {
    if (said.count(diagnostic.head) == 0) rest += diagnostic.text;
  }
  return rest;
}

std::string without_counts(const std::string& text) { return only_of_device(text, ""); }

std::string without_colours(const std::string& text) {
  static const std::regex mark("\x1b\\[[0-9;]*[A-Za-z]");
  return std::regex_replace(text, mark, "");
}

}  // namespace nuna::compiler
