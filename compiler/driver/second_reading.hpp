#pragma once
// What a second reading of a source is told that clang has refused and nvcc takes. Pure.

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace nuna::compiler {

class SecondReading {
 public:
  using ReadFile = std::function<std::string(const std::string& path)>;

  /// Looks into the files that `diagnostics` name, by `read`, which returns nothing for what cannot be read. Whether there is
  /// something new, so that another reading may succeed.
  bool learn(const std::string& diagnostics, const ReadFile& read);

  /// Files as clang is to see them, by the names that it gave them.
  const std::map<std::string, std::string>& files() const { return files_; }
  /// More options.
  const std::vector<std::string>& options() const { return options_; }

 private:
  std::map<std::string, std::string> files_;
  std::vector<std::string> options_;
};

/// A file for -ivfsoverlay: each name (absolute) stands for what lies in another file.
std::string overlay_text(const std::map<std::string, std::string>& files_by_name);

}  // namespace nuna::compiler
