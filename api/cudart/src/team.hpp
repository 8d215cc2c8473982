#pragma once
// Threads of the library's own, which the lane brings together where Nuna's devices have other work.

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "crew.hpp"

namespace nuna::cudart {

/// `attend` is called by each of the threads for each crew, in the order of the crews; number 0 always by the same thread.
class Team {
 public:
  Team(int threads, std::function<void(Crew& crew, int part)> attend);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  void gather(const std::shared_ptr<Crew>& crew);

 private:
  void work(int part);

  const std::function<void(Crew& crew, int part)> attend_;
  std::mutex mutex_;
  std::condition_variable came_;
  std::vector<std::deque<std::shared_ptr<Crew>>> crews_;  // by thread
  bool ended_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace nuna::cudart
