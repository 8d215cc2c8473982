// The thread of a stream. It is detached, and what it uses outlives it: a process may end with work in its streams.

#include "stream.hpp"

#include <thread>

#include "state.hpp"

namespace standin {

Stream::Point Stream::submit(Task task, std::vector<Point> after) {
  std::lock_guard lock(mutex_);
  items_.push_back({std::move(task), std::move(after)});
  if (!working_) {
    working_ = true;
    std::thread([self = shared_from_this()] { self->work(); }).detach();
  }
  changed_.notify_all();
  return {shared_from_this(), ++submitted_};
}

Stream::Point Stream::last() {
  std::lock_guard lock(mutex_);
  return {shared_from_this(), submitted_};
}

bool Stream::done(std::uint64_t number) {
  std::lock_guard lock(mutex_);
  return completed_ >= number;
}

void Stream::wait(std::uint64_t number) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return completed_ >= number; });
}

void Stream::close() {
  std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

bool Stream::ended() {
  std::lock_guard lock(mutex_);
  return closed_ && completed_ == submitted_;
}

void Stream::work() {
  for (;;) {
    Item item;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return closed_ || !items_.empty(); });
      if (items_.empty()) return;
      item = std::move(items_.front());
      items_.pop_front();
    }
    for (const Point& point : item.after) point.wait();
    if (context_.lost() == CUDA_SUCCESS) {
      const CUresult result = item.task();
      if (result != CUDA_SUCCESS) context_.lose(result);
    }
    item = {};  // what the task holds is given back before anybody hears that it is done
    std::lock_guard lock(mutex_);
    ++completed_;
    changed_.notify_all();
  }
}

}  // namespace standin
