#include "team.hpp"

#include <utility>

#include "host_thread.hpp"

namespace nuna::cudart {

Team::Team(int threads, std::function<void(Crew&, int)> attend)
    : attend_(std::move(attend)), crews_(static_cast<std::size_t>(threads)) {
  for (int part = 0; part < threads; ++part) threads_.emplace_back([this, part] { work(part); });
}

Team::~Team() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  came_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Team::gather(const std::shared_ptr<Crew>& crew) {
  {
    const std::lock_guard lock(mutex_);
    for (auto& crews : crews_) crews.push_back(crew);
  }
  came_.notify_all();
}

// Threads that operations make, a block's on one rank for one, are none of the program's.
void Team::work(int part) {
  const InLibrary here;
  auto& crews = crews_[static_cast<std::size_t>(part)];
  for (std::unique_lock lock(mutex_);;) {
    came_.wait(lock, [&] { return ended_ || !crews.empty(); });
    if (crews.empty()) return;
    const std::shared_ptr<Crew> crew = std::move(crews.front());
    crews.pop_front();
    lock.unlock();
    attend_(*crew, part);
    lock.lock();
  }
}

}  // namespace nuna::cudart
