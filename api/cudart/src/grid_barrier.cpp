#include "grid_barrier.hpp"

namespace nuna::cudart {

bool GridBarrier::wait() {
  std::unique_lock lock(mutex_);
  if (++arrived_ == blocks_) {
    release();
  } else {
    next_.wait(lock, [this, round = round_] { return round_ != round || failed_; });
  }
  return !failed_;
}

void GridBarrier::leave(bool failed) {
  const std::lock_guard lock(mutex_);
  --blocks_;
  failed_ |= failed;
  if (failed || (blocks_ > 0 && arrived_ == blocks_)) release();
}

void GridBarrier::release() {
  arrived_ = 0;
  ++round_;
  next_.notify_all();
}

}  // namespace nuna::cudart
