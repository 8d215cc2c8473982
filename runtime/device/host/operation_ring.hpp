#pragma once
// A queue from one submitting thread to one working thread, of records that are built in place and used
// again.
//
// The records lie in a circle of chunks; the circle grows by a chunk when the submitter would catch up with
// the worker, and never shrinks. In the steady state nothing is allocated: a record keeps what its members
// own.
//
// Threads: back() and push() by one thread at a time, front(), pop() and empty() by one other.
// Ownership: a record belongs to the submitter from back() to push(), to the worker until pop(). The worker
// leaves a record fit for the next use.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace nuna::device::host {

template <class Record, std::size_t ChunkRecords = 64>
class OperationRing {
 public:
  OperationRing() : tail_(new_chunk()), head_(tail_), consumer_chunk_(tail_) { tail_->next = tail_; }
  OperationRing(const OperationRing&) = delete;
  OperationRing& operator=(const OperationRing&) = delete;

  /// The record to fill next.
  Record& back() {
    if (tail_index_ == ChunkRecords) advance_tail();
    return tail_->records[tail_index_];
  }
  /// Hands the record of back() over.
  void push() {
    ++tail_index_;
    published_.store(++pushed_, std::memory_order_release);
  }

  bool empty() const { return published_.load(std::memory_order_acquire) == popped_; }
  /// The oldest record, or null.
  Record* front() {
    if (popped_ == seen_) {
      seen_ = published_.load(std::memory_order_acquire);
      if (popped_ == seen_) return nullptr;
    }
    if (head_index_ == ChunkRecords) {
      head_ = head_->next;  // written before what seen_ counts was published
      head_index_ = 0;
      consumer_chunk_.store(head_, std::memory_order_release);
    }
    return &head_->records[head_index_];
  }
  void pop() {
    ++head_index_;
    ++popped_;
  }

  /// Chunks allocated so far; the submitter's to ask.
  std::size_t chunks() const { return chunks_.size(); }

 private:
  struct Chunk {
    std::array<Record, ChunkRecords> records{};
    Chunk* next = nullptr;
  };

  Chunk* new_chunk() { return chunks_.emplace_back(std::make_unique<Chunk>()).get(); }

  void advance_tail() {
    if (tail_->next == consumer_chunk_.load(std::memory_order_acquire)) {
      Chunk* fresh = new_chunk();
      fresh->next = tail_->next;
      tail_->next = fresh;
    }
    tail_ = tail_->next;
    tail_index_ = 0;
  }

  // The two sides write lines of their own, so that neither waits for the other's cache.
  std::vector<std::unique_ptr<Chunk>> chunks_;
  Chunk* tail_;
  std::size_t tail_index_ = 0;
  std::uint64_t pushed_ = 0;
  alignas(64) std::atomic<std::uint64_t> published_{0};
  alignas(64) Chunk* head_;
  std::size_t head_index_ = 0;
  std::uint64_t popped_ = 0;
  std::uint64_t seen_ = 0;
  alignas(64) std::atomic<Chunk*> consumer_chunk_;
};

}  // namespace nuna::device::host
