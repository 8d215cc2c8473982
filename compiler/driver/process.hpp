#pragma once
// Child processes.

#include <string>
#include <vector>

namespace nuna::compiler {

struct Finished {
  int status = 0;     ///< the exit status; 128 + signal for one that was killed
  std::string error;  ///< what it wrote to standard error, where that was asked for
};

/// A running process. Its end is waited for by wait() or the destructor.
class Process {
 public:
  /// Starts `words`; its standard error is collected if `collect`. Throws std::runtime_error when it cannot be started.
  Process(const std::vector<std::string>& words, bool collect);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  Finished wait();
  /// Asks it to end.
  void stop() const;

 private:
  int process_ = -1;
  int error_ = -1;  // the end that we read
};

/// As a shell would take them.
std::string quoted(const std::vector<std::string>& words);

}  // namespace nuna::compiler
