#pragma once
// Memory of a benchmark's peer.

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <new>
#include <span>
#include <utility>

namespace nuna::perf {

// The same pages as Nuna's instances: shared memory, staggered by pages, and within a page as large CUDA allocations are.
template <class T>
class Array {
 public:
  Array(std::span<const T> values, int pages)
      : size_(values.size_bytes() + std::size_t(pages) * kStagger),
        block_(::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (block_ == MAP_FAILED) throw std::bad_alloc();
    first_ = reinterpret_cast<T*>(static_cast<char*>(block_) + std::size_t(pages) * kStagger);
    std::copy(values.begin(), values.end(), first_);
  }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array() { ::munmap(block_, size_); }
  T* get() const { return first_; }
  friend void swap(Array& a, Array& b) noexcept { std::swap(a.first_, b.first_); }  // both live equally long

 private:
  static constexpr std::size_t kStagger = 4096 + 1024;
  std::size_t size_;
  void* block_;
  T* first_;
};

}  // namespace nuna::perf
