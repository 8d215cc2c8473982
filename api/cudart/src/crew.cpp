#include "crew.hpp"

#include <sched.h>

namespace nuna::cudart {

void spin() noexcept {
  for (int i = 0; i < 8; ++i) __builtin_ia32_pause();
}
void lend_core() noexcept { sched_yield(); }

void Crew::perform(Job& job, bool alone) {
  if (alone || threads_ == 1) return job.work();
  job_.store(&job);
  number_.fetch_add(1);
  start_.ring();
  job.work();
  job_.store(nullptr);  // who enters from now on finds nothing; who entered before is counted
  finish_.wait([this] { return inside_.load() == 0; });
}

void Crew::help() {
  std::uint64_t seen = 0;
  while (!ended_.load()) {
    start_.wait([&] { return ended_.load() || number_.load() != seen; });
    seen = number_.load();
    inside_.fetch_add(1);
    if (Job* const job = job_.load()) job->work();
    if (inside_.fetch_sub(1) == 1) finish_.ring();
  }
}

void Crew::end() {
  ended_.store(true);
  start_.ring();
}

}  // namespace nuna::cudart
