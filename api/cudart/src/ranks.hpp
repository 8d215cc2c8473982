#pragma once
// A program that mpirun starts runs on every rank, from its first line to its last, and makes the same calls there. To the outside it is
// one program: the first rank's.
//
// Known from the launcher's environment, because it counts before MPI is there.

#include <string>

namespace nuna::cudart {

struct Ranks {
  int rank = 0;
  int ranks = 1;
  static const Ranks& here();
  /// Whether what this process does is seen outside.
  bool first() const { return rank == 0; }
};

/// While one lives, its thread does what only this rank does, and what it has to tell is heard outside.
class Heard {
 public:
  Heard() noexcept;
  ~Heard();
  Heard(const Heard&) = delete;
  Heard& operator=(const Heard&) = delete;
  /// The descriptor for errors of the calling thread.
  static int errors() noexcept;
};

/// Where a rank that is not the first finds the file `path`: what it opens for writing is its own, and what it has written it reads
/// back. The same path for all other files, for those that are no regular files, and on the first rank.
class Overlay {
 public:
  static Overlay& of_process();
  /// For fopen's modes and open's flags.
  std::string path_for(const char* path, bool writes, bool truncates);
  /// Whether `path` is one that this rank has written; its own path then.
  bool find(const char* path, std::string& own);
  /// From now on this rank finds no file there, until it writes one.
  void drop(const char* path);

  Overlay(const Overlay&) = delete;
  Overlay& operator=(const Overlay&) = delete;

 private:
  Overlay();
  ~Overlay();
  bool make_folder();
  struct State;
  State* const state_;
};

}  // namespace nuna::cudart
