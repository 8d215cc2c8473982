#include "driver/diagnostics_text.hpp"

#include <regex>
#include <set>
#include <sstream>
#include <vector>

namespace nuna::compiler {

namespace {

struct Diagnostic {
  std::string head;  ///< the line that says what is wrong, without colours
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
    const std::string plain = without_colours(line);
    if (is_count(plain)) continue;
    if (plain.rfind("In file included from ", 0) == 0 || plain.rfind("                 from ", 0) == 0) {
      before += line + "\n";
    } else if (is_head(plain) || all.empty()) {
      all.push_back({plain, before + line + "\n"});
      before.clear();
    } else {
      all.back().text += before + line + "\n";
      before.clear();
    }
  }
  return all;
}

/// What a diagnostic says that is about launches, or calls of CUDA's runtime, in device code; "" for others.
std::string about_device_runtime(const Diagnostic& diagnostic) {
  static const std::regex launch(
      "reference to __global__ function '.*' in .*|reference to __host__ function 'cudaConfigureCall' in .*");
  static const std::regex call("reference to __host__ function '(cuda[A-Z]\\w*)' in .*");
  static const std::regex no_match("no matching function for call to '(.*)'");
  static const std::regex kernel(
      "candidate (template ignored|function .*not viable): call to __global__ function from __");
  static const std::regex host(
      "candidate (template ignored|function .*not viable): call to __host__ function from "
      "__(global|device)__");
  const auto at = diagnostic.head.find(" error: ");
  if (at == std::string::npos) return "";
  const std::string what = diagnostic.head.substr(at + 8);
  const std::string more = without_colours(diagnostic.text);
  std::smatch parts;
  const bool unmatched = std::regex_match(what, parts, no_match);
  if (std::regex_match(what, launch) || (unmatched && std::regex_search(more, kernel)))
    return "device code launches a kernel here (dynamic parallelism), which nunacc does not support: launch "
           "it from the host, or "
           "call a __device__ function";
  const bool called = std::regex_match(what, parts, call) ||
                      (unmatched && std::regex_match(what, parts, no_match) &&
                       parts.str(1).rfind("cuda", 0) == 0 && std::regex_search(more, host));
  if (!called) return "";
  return "device code calls '" + parts.str(1) + "' here, which nunacc does not support: call it on the host";
}

/// "file.cu:12" of "file.cu:12:3: error: ...".
std::string line_of(const std::string& head) {
  static const std::regex place(R"(^(\S.*?:\d+):\d+: .*)");
  std::smatch parts;
  return std::regex_match(head, parts, place) ? parts.str(1) : "";
}

/// The lines of source that a diagnostic shows, without its notes.
std::string shown_source(const std::string& text) {
  static const std::regex source(R"(^ *\d* \| .*)");
  std::istringstream lines(text);
  std::string shown;
  bool begun = false;
  for (std::string line; std::getline(lines, line);) {
    const bool is_source = std::regex_match(without_colours(line), source);
    if (begun && !is_source) break;
    begun |= is_source;
    if (is_source) shown += line + "\n";
  }
  return shown;
}

}  // namespace

std::string explained(const std::string& text) {
  std::string result;
  std::set<std::string> said;
  for (const auto& diagnostic : parted(text)) {
    const auto what = about_device_runtime(diagnostic);
    if (what.empty()) {
      result += diagnostic.text;
      continue;
    }
    const auto head = diagnostic.head.substr(0, diagnostic.head.find(" error: ") + 8) + what;
    if (!said.insert(line_of(head) + what).second) continue;  // clang says so of each part of a launch
    result += head + "\n" + shown_source(diagnostic.text);
  }
  return result;
}

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
