// Prints the environment variables that Nuna reads as the table of docs/environment.md (tests/tree/tables.py).

#include <cstdio>
#include <string>

#include "base/settings.hpp"

namespace {

std::string cell(std::string_view text) {
  return (text.empty() ? " " : " " + std::string(text) + " ") + std::string("|");
}
std::string code(std::string_view text) {
  return text.empty() ? std::string(text) : "`" + std::string(text) + "`";
}

}  // namespace

int main() {
  std::puts("| variable | accepted | unset | | in the program |");
  std::puts("|---|---|---|---|---|");
  for (const nuna::base::SettingInfo& info : nuna::base::known_settings()) {
    const std::string line = "|" + cell(code(info.name)) + cell(info.accepted) + cell(info.standard) +
                             cell(info.meaning) + cell(code(info.program));
    std::puts(line.c_str());
  }
  return 0;
}
