#include "ranks.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "host_thread.hpp"
#include "input.hpp"

namespace nuna::cudart {
namespace {

int loud_errors = STDERR_FILENO;
thread_local bool is_heard = false;

int number_in(std::initializer_list<const char*> names, int otherwise) {
  for (const char* name : names) {
    if (const char* text = std::getenv(name)) return std::atoi(text);
  }
  return otherwise;
}

bool is_on(const char* name) {
  const char* const setting = std::getenv(name);
  return setting != nullptr && std::strcmp(setting, "0") != 0 && std::strcmp(setting, "off") != 0;
}

void silence_other_ranks() {
  if (Ranks::here().first() || is_on("NUNA_ALL_RANKS")) return;
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere < 0) return;
  constexpr int kFirstDescriptor = 500;  // the program's own files get the numbers that it is used to
  loud_errors = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, kFirstDescriptor);
  ::dup2(nowhere, STDOUT_FILENO);
  ::dup2(nowhere, STDERR_FILENO);
  ::close(nowhere);
}

// Before the program's own static objects, which may write and read.
[[gnu::constructor(101)]] void prepare_ranks() {
  const InLibrary here;
  silence_other_ranks();
  share_standard_input(Ranks::here());
}

}  // namespace

Heard::Heard() noexcept { is_heard = true; }
Heard::~Heard() { is_heard = false; }
int Heard::errors() noexcept { return is_heard && loud_errors >= 0 ? loud_errors : STDERR_FILENO; }

const Ranks& Ranks::here() {
  static const Ranks only = [] {
    Ranks found;
    found.ranks = std::max(1, number_in({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}, 1));
    found.rank = found.ranks > 1 ? number_in({"OMPI_COMM_WORLD_RANK", "PMI_RANK"}, 0) : 0;
    return found;
  }();
  return only;
}

}  // namespace nuna::cudart
