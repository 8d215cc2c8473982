#include "team.hpp"

#include <utility>

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

void Team::work(int part) {
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
