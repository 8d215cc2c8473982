#pragma once
// Figures of several ranks: each rank of an MPI run takes the same samples in the same order, and rank 0 prints.
//
// A sample of such a row starts on all ranks together, and its figure is the slowest rank's, known to all: so every rank
// takes the same path, however a sweep depends on what was measured.
//
// Threads: one. A program of Nuna's makes its Context first: then Nuna has initialised MPI, with its own settings, as in
// any program. Otherwise Ranks initialises it, and finalises it.

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "perf/measure.hpp"

namespace nuna::perf {

class Ranks {
 public:
  explicit Ranks(int expected) {
    int initialized = 0;
    MPI_Initialized(&initialized);
    finalizes_ = initialized == 0;
    int level = MPI_THREAD_SINGLE;
    if (finalizes_) MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level);
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    if (ranks != expected) fail("it needs mpirun -n " + std::to_string(expected));
    if (rank_ != 0 && std::freopen("/dev/null", "w", stdout) == nullptr) fail("there is no /dev/null");
  }
  ~Ranks() {
    if (finalizes_) MPI_Finalize();
  }
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  int rank() const { return rank_; }
  static double most(double value) { return folded(value, MPI_MAX); }
  static double sum(double value) { return folded(value, MPI_SUM); }

  /// The slowest rank's figure of `sample`, which is a time.
  static Sample slowest(Sample sample) {
    return [sample = std::move(sample)] {
      MPI_Barrier(MPI_COMM_WORLD);
      return most(sample());
    };
  }
  /// Ends all ranks.
  [[noreturn]] static void fail(const std::string& why) {
    std::fprintf(stderr, "perf: %s\n", why.c_str());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    std::abort();
  }

 private:
  static double folded(double value, MPI_Op operation) {
    double result = 0;
    MPI_Allreduce(&value, &result, 1, MPI_DOUBLE, operation, MPI_COMM_WORLD);
    return result;
  }
  bool finalizes_ = false;
  int rank_ = 0;
};

}  // namespace nuna::perf
