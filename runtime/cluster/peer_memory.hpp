#pragma once
// PeerMemory: the places of another rank of this node, readable here; and this rank's, as it is read by others.
//
// A rank of the same process is read at its own addresses, and waits at its end until nobody does (SharedMemory). Of another
// process the files behind its places are mapped, as far as they are asked for; what cannot be mapped is read through the
// descriptor.
//
// Threads: a PeerMemory belongs to one at a time; a SharedMemory is read from many.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "address/reservation.hpp"
#include "base/ids.hpp"
#include "nuna/box.hpp"

namespace nuna::cluster {

/// One rank's memory as other ranks of its process see it; found by a token that the rank gives them.
class SharedMemory {
 public:
  static std::shared_ptr<SharedMemory> publish(std::uint64_t token, std::vector<std::byte*> bases);
  static std::shared_ptr<SharedMemory> find(std::uint64_t token);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  /// False once it is closed; else the memory stays until leave().
  bool enter();
  void leave() { readers_.fetch_sub(1); }
  /// Waits until nobody reads, and lets nobody in any more.
  void close();
  bool has(base::PlaceId place) const { return static_cast<std::size_t>(place.value) < bases_.size(); }
  std::byte* base(base::PlaceId place) const { return bases_[static_cast<std::size_t>(place.value)]; }

 private:
  SharedMemory(std::uint64_t token, std::vector<std::byte*> bases)
      : token_(token), bases_(std::move(bases)) {}

  const std::uint64_t token_;
  const std::vector<std::byte*> bases_;
  std::atomic<int> readers_{0};
  std::atomic<bool> closed_{false};
};

/// Bytes of another rank, while it is alive.
class Lease {
 public:
  Lease() = default;
  explicit Lease(const std::byte* first, std::shared_ptr<SharedMemory> entered = nullptr)
      : first_(first), entered_(std::move(entered)) {}
  Lease(Lease&& other) noexcept
      : first_(std::exchange(other.first_, nullptr)), entered_(std::move(other.entered_)) {}
  Lease& operator=(Lease&& other) noexcept {
    std::swap(first_, other.first_);
    std::swap(entered_, other.entered_);
    return *this;
  }
  ~Lease() {
    if (entered_ != nullptr) entered_->leave();
  }
  explicit operator bool() const { return first_ != nullptr; }
  const std::byte* first() const { return first_; }

 private:
  const std::byte* first_ = nullptr;
  std::shared_ptr<SharedMemory> entered_;
};

class PeerMemory {
 public:
  /// A rank of this process.
  explicit PeerMemory(std::weak_ptr<SharedMemory> here) : here_(std::move(here)) {}
  /// A rank of another one, with a file for each place of `bytes` bytes.
  PeerMemory(std::vector<address::File> files, Index bytes)
      : files_(std::move(files)), bytes_(bytes), mapped_(files_.size()) {}

  bool in_process() const { return files_.empty(); }
  /// From now on nothing more is mapped: for tests of what follows.
  void refuse_mappings() { refuse_mappings_ = true; }

  /// Bytes of a place; none if they cannot be mapped, or the rank is gone.
  Lease borrow(base::PlaceId place, Interval bytes);
  /// Copies them by a system call. False if the system refuses, or the rank is of this process.
  bool read(base::PlaceId place, Index offset, std::span<std::byte> into) const;

 private:
  // From the beginning of a file. A larger one replaces it; those who read in the old one may go on.
  struct Mapping {
    Mapping(std::byte* at, Index size) : first(at), bytes(size) {}
    ~Mapping();
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    std::byte* const first;
    const Index bytes;
  };

  std::weak_ptr<SharedMemory> here_;
  std::vector<address::File> files_;
  Index bytes_ = 0;
  std::vector<std::vector<std::unique_ptr<Mapping>>> mapped_;  // by place, the largest last
  bool refuse_mappings_ = false;
};

}  // namespace nuna::cluster
