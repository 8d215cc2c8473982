#pragma once
// The barrier of the blocks of a cooperative launch, each of which runs on a thread of its own.

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace nuna::cudart {

/// Any thread.
class GridBarrier {
 public:
  explicit GridBarrier(std::uint64_t blocks) : blocks_(blocks) {}
  GridBarrier(const GridBarrier&) = delete;
  GridBarrier& operator=(const GridBarrier&) = delete;

  /// Returns when all blocks that have not ended have come. False: some block has failed.
  bool wait();
  /// A block has ended; the others do not wait for it, or, if it `failed`, for anything any more.
  void leave(bool failed);

 private:
  void release();

  std::mutex mutex_;
  std::condition_variable next_;
  std::uint64_t blocks_;
  std::uint64_t arrived_ = 0;
  std::uint64_t round_ = 0;
  bool failed_ = false;
};

}  // namespace nuna::cudart
