#pragma once
// The cards' memory and their one address space.
//
// A device address lies in this process's address space, as with unified addressing, but is never readable there: the
// range is reserved without access, and the bytes lie in a second mapping. So a host that follows a device pointer
// crashes, and everything else comes through Reach, which knows what may be read and written.
//
// All functions may be called from any thread.

#include <cuda.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace standin {

inline constexpr int kMostDevices = 64;
inline constexpr std::size_t kGranularity = std::size_t{2} << 20;

/// Physical memory of a card: shared memory of the operating system, which costs nothing until written.
class Block {
 public:
  /// Null if the operating system has no more. `used` counts the bytes while the block lives.
  static std::shared_ptr<Block> create(int device, std::size_t size_bytes, bool shareable,
                                       std::atomic<std::size_t>* used);
  /// The block behind a descriptor that another process (or this one) exported; null if it is none.
  static std::shared_ptr<Block> import(int descriptor);
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  int device() const { return device_; }
  std::size_t size_bytes() const { return size_bytes_; }
  std::uint8_t* bytes() const { return bytes_; }
  bool shareable() const { return shareable_; }
  /// A new descriptor, the caller's to close; negative on failure.
  int export_descriptor() const;

 private:
  Block() = default;
  bool map();

  int device_ = 0;
  std::size_t size_bytes_ = 0;
  bool shareable_ = false;
  int descriptor_ = -1;
  std::uint8_t* bytes_ = nullptr;
  std::atomic<std::size_t>* used_ = nullptr;
};

enum class RangeKind { kAllocated, kMapped, kHost };

/// Addresses with memory behind them.
struct Range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  RangeKind kind = RangeKind::kAllocated;
  int device = 0;
  std::uint8_t* bytes = nullptr;
  std::shared_ptr<Block> block;  // none for host memory
  CUcontext context = nullptr;
  std::uint64_t readers = 0;  // bit d: device d may read
  std::uint64_t writers = 0;
  unsigned flags = 0;    // as given to cuMemHostRegister
  std::uint64_t id = 0;  // never used twice
  bool owned = false;    // host memory that cuMemHostAlloc gave
};
using Ranges = std::vector<std::shared_ptr<const Range>>;  // by address

/// What one device reaches: a picture of the address space at one time.
class Reach {
 public:
  Reach() = default;
  Reach(std::shared_ptr<const Ranges> ranges, int device, std::uint64_t peers)
      : ranges_(std::move(ranges)), device_(device), peers_(peers) {}

  struct Piece {
    std::uint8_t* bytes = nullptr;
    std::uint64_t size_bytes = 0;
    const Range* range = nullptr;
  };
  /// The memory from `address` to the end of its range; nothing if the device may not do this.
  Piece at(std::uint64_t address, bool write) const;
  const Range* find(std::uint64_t address) const;
  int device() const { return device_; }

 private:
  std::shared_ptr<const Ranges> ranges_;
  int device_ = 0;
  std::uint64_t peers_ = 0;
};

class AddressSpace {
 public:
  /// Addresses without memory; 0 if there are none. `wish` is taken if it is free.
  std::uint64_t reserve(std::size_t size_bytes, std::size_t alignment, std::uint64_t wish);
  /// False unless exactly this was reserved and nothing is mapped there.
  bool unreserve(std::uint64_t address, std::size_t size_bytes);
  /// True if all of it lies in one reservation.
  bool reserved(std::uint64_t address, std::size_t size_bytes) const;

  /// False if it would overlap another range.
  bool insert(Range range);
  /// Removes ranges that tile [address, address + size) exactly; false, and nothing happens, if they do not.
  bool remove(std::uint64_t address, std::size_t size_bytes, RangeKind kind);
  /// Sets access of one device over mapped ranges that tile the addresses exactly.
  bool set_access(std::uint64_t address, std::size_t size_bytes, int device, bool read, bool write);
  std::shared_ptr<const Range> find(std::uint64_t address) const;
  /// The first range that holds a byte of [address, address + size).
  std::shared_ptr<const Range> first_within(std::uint64_t address, std::size_t size_bytes) const;
  Ranges all() const;

  void set_peer(int device, int peer, bool enabled);
  bool peer(int device, int peer) const;
  Reach reach(int device) const;

 private:
  using Map = std::map<std::uint64_t, std::shared_ptr<const Range>>;
  std::vector<Map::iterator> tiles(std::uint64_t address, std::size_t size_bytes, RangeKind kind);
  void changed() { picture_ = nullptr; }

  mutable std::mutex mutex_;
  Map ranges_;
  std::map<std::uint64_t, std::size_t> reservations_;
  mutable std::shared_ptr<const Ranges> picture_;
  std::uint64_t next_id_ = 1;
  std::array<std::atomic<std::uint64_t>, kMostDevices> peers_{};
};

}  // namespace standin
