#include "cluster/mpi/session.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>

#include "base/log.hpp"
#include "base/mutex.hpp"
#include "nuna/error.hpp"

namespace nuna::cluster::mpi {
namespace {

struct State {
  base::Mutex mutex;
  std::map<int, std::function<void()>> drains NUNA_GUARDED_BY(mutex);
  int next NUNA_GUARDED_BY(mutex) = 1;
  bool watched NUNA_GUARDED_BY(mutex) = false;
  std::function<void(bool)> last NUNA_GUARDED_BY(mutex);
  std::atomic<bool> given_up{false};
};

State& state() {
  static auto* only = new State;  // used while the process ends
  return *only;
}

bool flag(int (*question)(int*)) {
  int answer = 0;
  question(&answer);
  return answer != 0;
}

void say_farewell(bool together) {
  std::function<void(bool)> last;
  {
    const base::MutexLock lock(state().mutex);
    last = std::exchange(state().last, {});
  }
  if (last) last(together);
}

void drain_all() {
  std::map<int, std::function<void()>> drains;
  {
    const base::MutexLock lock(state().mutex);
    drains = std::exchange(state().drains, {});
  }
  if (!drains.empty()) {
    base::log(base::LogLevel::warn, "cluster", std::nullopt,
              "MPI_Finalize while Contexts live (" + std::to_string(drains.size()) +
                  "): what they have started is completed first; end them before");
  }
  for (const auto& [number, drain] : drains) drain();
}

// MPI_Finalize deletes the attributes of MPI_COMM_SELF first, while everything still works.
int on_finalize(MPI_Comm, int, void*, void*) {
  drain_all();
  say_farewell(true);
  return MPI_SUCCESS;
}

void watch_finalize() {
  const base::MutexLock lock(state().mutex);
  if (std::exchange(state().watched, true)) return;
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &on_finalize, &key, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
}

// Then a rank that waits inside MPI, in a call of the program, must give its core to another. Else it must not: giving it
// up between two looks makes every look late when anything else runs on the node.
bool more_ranks_than_cores() {
  const char* ranks = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  return ranks != nullptr && std::atoi(ranks) > ::sysconf(_SC_NPROCESSORS_ONLN);
}

void finish(int status, void*) {
  if (!usable()) return;
  if (!given_up()) {
    drain_all();
    say_farewell(true);  // before MPI_Finalize, which would wait for a rank that it finds lost
  }
  if (!given_up()) {
    MPI_Finalize();
    return;
  }
  say_farewell(false);
  // Others may still be writing their reports; a launcher that sees a process end like this ends them soon.
  std::fflush(nullptr);
  ::_exit(status == 0 ? EXIT_FAILURE : status);
}

}  // namespace

bool launched() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"}) {
    if (std::getenv(name) != nullptr) return true;
  }
  return false;
}

void warn_about_strange_launcher() {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks != 1) return;
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    const char* started = std::getenv(name);
    if (started == nullptr || std::atoi(started) <= 1) continue;
    base::warn_once(
        "launcher",
        std::string("the launcher started ") + started +
            " processes, but MPI knows of this one only: start the program with the mpiexec of the "
            "MPI that Nuna was built with");
  }
}

bool usable() { return flag(&MPI_Initialized) && !flag(&MPI_Finalized); }

void require() {
  if (flag(&MPI_Finalized)) {
    throw Error(
        ErrorCode::unsupported,
        "MPI was finalised already: create the Context before MPI_Finalize, or let Nuna initialise MPI");
  }
  if (!flag(&MPI_Initialized)) {
    int level = MPI_THREAD_SINGLE;
    if (more_ranks_than_cores()) ::setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level);
    ::on_exit(&finish, nullptr);
  }
  if (driver() == Driver::main_thread && !flag(&MPI_Is_thread_main)) {
    throw Error(ErrorCode::unsupported,
                "MPI was initialised for the main thread only, and this is another one: create the Context "
                "on the main "
                "thread, or ask for MPI_THREAD_MULTIPLE (MPI_Init_thread)");
  }
  watch_finalize();
}

Driver driver() {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  if (level == MPI_THREAD_MULTIPLE) return Driver::any_thread;
  return level == MPI_THREAD_SERIALIZED ? Driver::calling_threads : Driver::main_thread;
}

void give_up() { state().given_up.store(true); }
bool given_up() { return state().given_up.load(); }

void at_the_end(std::function<void(bool together)> last) {
  const base::MutexLock lock(state().mutex);
  state().last = std::move(last);
}

int before_finalize(std::function<void()> drain) {
  const base::MutexLock lock(state().mutex);
  state().drains.emplace(state().next, std::move(drain));
  return state().next++;
}

void forget(int number) {
  const base::MutexLock lock(state().mutex);
  state().drains.erase(number);
}

}  // namespace nuna::cluster::mpi
