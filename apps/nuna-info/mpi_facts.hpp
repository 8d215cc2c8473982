#pragma once
// What is known of MPI: which library, what it was started by, what it can do, and how its messages go.
//
// Threads: the main thread. Failure: none; what MPI does not tell is "unknown". Does not initialise MPI.

#include <functional>
#include <string>

#include "nuna-info/section.hpp"

namespace nuna_info {

enum class Answer { no, yes, unknown };
const char* to_string(Answer answer);

struct MpiFacts {
  bool built_in = false;       ///< Nuna was built with MPI; else nothing else is known
  std::string implementation;  ///< "Open MPI", "MPICH", ...
  std::string version;         ///< the library's own text, its first line
  std::string standard;        ///< "3.1"
  bool launched = false;       ///< by mpirun, mpiexec or srun
  bool initialised = false;    ///< else thread level and ranks are not known
  std::string thread_level;
  int ranks = 1;
  Answer cuda_compiled = Answer::unknown;  ///< what mpi-ext.h said when Nuna was compiled
  Answer cuda_running = Answer::unknown;   ///< what the library says now
  std::string transport;                   ///< "unknown", or what is known and from where
};

MpiFacts read_mpi_facts();
Section describe(const MpiFacts& facts);

/// From the first words of MPI_Get_library_version.
std::string implementation_name(const std::string& version);
/// What a library's version text and the environment tell of the transport; empty if nothing.
std::string transport_hint(const std::string& version,
                           const std::function<const char*(const char*)>& variable);

}  // namespace nuna_info
