#pragma once
// Words that the processes of a job leave for each other with their launcher, before MPI is there: by PMIx, as of Open MPI and PRRTE.

#include <chrono>
#include <optional>
#include <string>

namespace nuna::cudart {

/// Until the process ends. A launcher takes a process that has not joined where others have for one that failed: all of a job do, or none.
class LauncherWords {
 public:
  /// nullptr where there is no PMIx: it was not there when Nuna was built, its library is not found, or the launcher has none.
  static LauncherWords* of_process();

  bool leave(const char* name, const std::string& word);
  /// What `rank` has left, or leaves before `longest` is over.
  std::optional<std::string> find(int rank, const char* name, std::chrono::seconds longest);

  LauncherWords(const LauncherWords&) = delete;
  LauncherWords& operator=(const LauncherWords&) = delete;

 private:
  struct Library;
  explicit LauncherWords(const Library& library) : library_(library) {}
  static LauncherWords* join();
  const Library& library_;
};

}  // namespace nuna::cudart
