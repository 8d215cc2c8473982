#pragma once
// The processes of a job, for tools that look below a Context: MPI's, or this one alone.
//
// Threads: the main thread. Without a launcher, or without MPI built in, all of this is one process and touches no MPI.

#include <cstdint>
#include <string>
#include <vector>

namespace apps {

class Processes {
 public:
  /// Initialises MPI if a launcher started this process. Throws nuna::Error (unsupported) where MPI may not be called.
  static void start();
  static int rank();
  static int size();

  /// Collective: whether all processes say yes.
  static bool all_agree(bool mine);
  /// Collective: the least of all.
  static std::int64_t least(std::int64_t mine);
  /// Collective; whoever waits leaves its core to those that still measure.
  static void wait_for_all();
  /// Ends all processes at once, with this exit code, if there are several: one has failed, and the others would wait for it.
  static void end_all(int exit_code);
  /// Collective: every process's text, in the order of the ranks; on the others than the first an empty list.
  static std::vector<std::string> gather(const std::string& mine);
};

}  // namespace apps
