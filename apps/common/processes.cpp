#include "common/processes.hpp"

#ifdef NUNA_WITH_MPI
#include <mpi.h>

#include <chrono>
#include <thread>

#include "cluster/mpi/session.hpp"
#endif

namespace apps {

#ifdef NUNA_WITH_MPI

namespace {

bool alone() { return !nuna::cluster::mpi::usable(); }

}  // namespace

void Processes::start() {
  if (nuna::cluster::mpi::launched()) nuna::cluster::mpi::require();
}

int Processes::rank() {
  int rank = 0;
  if (!alone()) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int Processes::size() {
  int size = 1;
  if (!alone()) MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

bool Processes::all_agree(bool mine) {
  int all = mine ? 1 : 0;
  const int own = all;
  if (!alone()) MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return all != 0;
}

std::int64_t Processes::least(std::int64_t mine) {
  std::int64_t all = mine;
  if (!alone()) MPI_Allreduce(&mine, &all, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
  return all;
}

void Processes::wait_for_all() {
  if (alone()) return;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  for (int over = 0; over == 0;) {
    MPI_Test(&request, &over, MPI_STATUS_IGNORE);
    if (over == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void Processes::end_all(int exit_code) {
  if (!alone() && size() > 1) MPI_Abort(MPI_COMM_WORLD, exit_code);
}

std::vector<std::string> Processes::gather(const std::string& mine) {
  if (alone()) return {mine};
  const int ranks = size();
  const int length = static_cast<int>(mine.size());
  std::vector<int> lengths(static_cast<std::size_t>(ranks));
  MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
  std::vector<int> begins;
  int end = 0;
  for (const int each : lengths) {
    begins.push_back(end);
    end += each;
  }
  std::string all(static_cast<std::size_t>(end), '\0');
  MPI_Gatherv(mine.data(), length, MPI_CHAR, all.data(), lengths.data(), begins.data(), MPI_CHAR, 0,
              MPI_COMM_WORLD);
  std::vector<std::string> texts;
  if (rank() != 0) return texts;
  for (std::size_t r = 0; r < lengths.size(); ++r)
    texts.push_back(all.substr(static_cast<std::size_t>(begins[r]), static_cast<std::size_t>(lengths[r])));
  return texts;
}

#else

void Processes::start() {}
int Processes::rank() { return 0; }
int Processes::size() { return 1; }
bool Processes::all_agree(bool mine) { return mine; }
std::int64_t Processes::least(std::int64_t mine) { return mine; }
void Processes::wait_for_all() {}
void Processes::end_all(int) {}
std::vector<std::string> Processes::gather(const std::string& mine) { return {mine}; }

#endif

}  // namespace apps
