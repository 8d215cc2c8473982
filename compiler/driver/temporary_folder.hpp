#pragma once
// A folder for files in between.

#include <string>

namespace nuna::compiler {

/// Its own, below TMPDIR, and gone at the end: also when SIGINT, SIGTERM or SIGHUP end the process. One at a time; made before the
/// process has threads, since these signals are left to one that waits for them. Processes that it starts are to unblock them.
class TemporaryFolder {
 public:
  /// Throws std::runtime_error where none can be made.
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace nuna::compiler
