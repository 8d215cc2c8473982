#pragma once
// The device's memory, the host memory that programs got from CUDA or registered, and what is known of a pointer.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "cuda_runtime_api.h"
#include "free_list.hpp"
#include "nuna/buffer.hpp"
#include "turns.hpp"

namespace nuna {
inline namespace v0 {
class Context;
}
}  // namespace nuna

namespace nuna::cudart {

/// One thing that a program has allocated.
struct Allocation {
  enum class Kind { device, managed, pinned, registered };
  std::uintptr_t first = 0;
  std::size_t bytes = 0;  ///< as asked for
  Kind kind = Kind::device;
  unsigned int flags = 0;
};

/// Memory comes from Nuna buffers of 8 MiB or more, *chunks*, because a buffer for each allocation would cost tens of microseconds.
/// With one host device the device's memory is the host place: a chunk's bytes are usable at one address by kernels and by
/// the host, always, and no other place holds a copy. So Nuna is told once that the device writes the chunk, and never
/// again. Managed memory is the same memory for the same reason.
///
/// With several devices the addresses are those of the host's views, which are open always: whoever follows a pointer on the host, the
/// program or a kernel that runs there, sees the newest bytes. Launches over the devices translate them (spread.hpp).
///
/// Any thread; of all members an operation may call free_later() only, because the others may wait for the lane.
class Memory {
 public:
  Memory(Context& context, std::size_t limit_bytes, bool several_devices)
      : context_(context), limit_bytes_(limit_bytes), several_devices_(several_devices) {}

  /// Bytes that are aligned to 256; null for none. Throws Refused (cudaErrorMemoryAllocation).
  void* allocate(std::size_t bytes, Allocation::Kind kind, unsigned int flags = 0);
  /// Takes memory of the program into the list of what is known.
  void add_registered(void* first, std::size_t bytes, unsigned int flags);
  /// Forgets an allocation that begins there and is of one of these kinds, and gives its memory back. Whether there was one.
  bool free(const void* first, std::initializer_list<Allocation::Kind> kinds);
  /// The same for device memory, done by the next call that allocates.
  void free_later(const void* first);
  /// The allocation that a pointer points into.
  std::optional<Allocation> find(const void* pointer) const;

  /// The buffer around a pointer into device memory, which lives as long as something in it is allocated.
  struct Backing {
    Buffer<std::byte, 1>* buffer = nullptr;
    std::uint64_t number = 0;  ///< no other has it, ever
    std::uintptr_t first = 0;
    std::size_t bytes = 0;
  };
  std::optional<Backing> backing(const void* pointer);
  /// Another number whenever find() or backing() may answer otherwise than before.
  std::uint64_t changes() const { return changes_.load(); }
  std::vector<Backing> backings();  ///< all, by address
  /// Opens the host's views again where launches have closed them. Of one rank.
  void open_views();
  /// Of several ranks: opens the views of managed memory on all of them, or those for a turn of the host, which is rank 0's or
  /// `everywhere`: of the buffers around these pointers, or of all.
  void open_managed();
  void open_for_turn(bool everywhere, const std::optional<std::vector<const void*>>& pointers);
  /// Whether ranks had left different bytes there: they are rank 0's now.
  bool close_views();
  /// Called before buffers are made or go, and before what decides where the next allocation lies, which all ranks do at the same
  /// point of the lane's order.
  using BeginChange = std::function<Turns::Turn(const char* call, std::size_t bytes)>;
  void set_begin_change(BeginChange begin_change) { begin_change_ = std::move(begin_change); }
  /// While the result lives, nobody else changes anything. The calling thread may, and free.
  Turns::Turn begin_change(const char* call, std::size_t bytes = 0) const {
    return begin_change_(call, bytes);
  }

  std::size_t limit_bytes() const { return limit_bytes_; }
  std::size_t used_bytes();
  std::size_t most_used_bytes() const { return most_used_bytes_.load(); }
  /// Gives chunks back that hold nothing, down to some bytes.
  void trim(std::size_t keep_bytes);
  /// Frees everything.
  void clear();

 private:
  using Bytes = Buffer<std::byte, 1>;
  struct Chunk {
    Bytes buffer;
    std::size_t bytes = 0;  ///< of all of it, margins too
    std::uintptr_t first = 0;
    std::uint64_t number = 0;
  };

  void* allocate_device(std::size_t bytes, Allocation::Kind kind, unsigned int flags);
  static void open_led(Chunk& chunk, bool everywhere);
  std::uintptr_t take(std::size_t bytes);
  void add_chunk(std::size_t bytes);
  std::uintptr_t home_of(Bytes& chunk);
  void* add(const Allocation& allocation);
  void give_back(const Allocation& allocation);
  void drop_unused(std::size_t keep_bytes);
  void free_returned();

  Context& context_;
  const std::size_t limit_bytes_;
  const bool several_devices_;
  BeginChange begin_change_ = [](const char*, std::size_t) { return Turns::Turn(); };
  mutable std::mutex mutex_;
  std::map<std::uintptr_t, Allocation> allocations_;
  std::map<std::uintptr_t, Chunk> chunks_;  // by the address that can be allocated first
  std::atomic<std::uint64_t> changes_{0};
  FreeList list_;
  std::size_t chunks_made_ = 0;
  std::size_t chunk_bytes_ = 0;
  std::optional<std::uintptr_t>
      shift_;  // from the address that Nuna tells the program to that in the host place
  std::mutex returning_;
  std::vector<std::uintptr_t> returned_;  // by free_later(); guarded by returning_
  std::atomic<std::size_t> used_bytes_{0};
  std::atomic<std::size_t> most_used_bytes_{0};
};

}  // namespace nuna::cudart
