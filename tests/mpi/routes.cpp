// Random programs on ranks that are processes, by random routes, against the array model: mpi_routes <first seed> <seeds>.
// Exit status 1 and the program's text on the first difference.

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "base/log.hpp"
#include "nuna/nuna.hpp"
#include "property/script.hpp"

int main(int argc, char** argv) {
  using namespace nuna::property;
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  int ranks = 1;
  int rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::uint64_t first = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 0;
  const std::uint64_t seeds = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 10;
  const nuna::base::LogCapture quiet(
      nuna::base::LogLevel::error);  // programs read what nobody wrote, on purpose
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    const Script script = random_script(seed, ranks);
    try {
      nuna::Options options;
      options.devices = script.team.devices;
      options.threads_per_device = 1;
      set_environment(script);
      nuna::Context context = nuna::Context::on(MPI_COMM_WORLD, options);
      perform(script, context);
    } catch (const std::exception& e) {
      std::fprintf(stderr, "seed %llu on %d ranks: %s\nof: %s\n", static_cast<unsigned long long>(seed),
                   ranks, e.what(), script.text().c_str());
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
  if (rank == 0) std::printf("%llu programs on %d ranks\n", static_cast<unsigned long long>(seeds), ranks);
  MPI_Finalize();
}
