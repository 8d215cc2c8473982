#pragma once
// The window: the part of a process's addresses where the memories of its ranks lie (D1).
//
// An owner (a rank of a Context) acquires a range of slots: one for its host memory, one for each device
// memory that is not the driver's to place. Slot p of the window lies at kWindowBegin + p * slot size +
// colour(p): bases differ by pages modulo 64 KiB, because streams between equal low address bits are slow.
// The host slot is a mapping of a file in memory, so that neighbours and a second view can map it; so are device slots if
// neighbours are to map them, else they are private memory. All are readable and writable from the start; pages appear with
// use.
//
// Sizes: a slot is 1 TiB (16 GiB under ThreadSanitizer) where all slots of `peers` owners fit into the
// window, else halved until they do. Where the machine refuses (a limit, a foreign mapping, strict
// overcommit), smaller slots are tried, and then *table mode*: slots of their own, wherever the kernel has
// room. A limit on address space (ulimit -v) is used up to one half. A program sees no difference but base()
// and slot_bytes(), so ranks that must place buffers at equal offsets agree on the smallest slot first.
//
// Threads: all of Window is thread-safe; find() takes a lock and is not for signal handlers. A Slots belongs
// to one thread at a time, but its const members may be called from all. Ownership: a Slots returns its
// memory and its slots when it dies; nobody may use the memory then. The Window outlives its Slots (checked).
// Failure: acquire() throws nuna::Error (out_of_memory) when not even slots of 16 MiB can be had.

#include <absl/container/btree_map.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "address/arena.hpp"
#include "address/reservation.hpp"
#include "base/ids.hpp"
#include "base/mutex.hpp"
#include "nuna/box.hpp"

namespace nuna::address {

#if defined(__SANITIZE_THREAD__)
#define NUNA_ADDRESS_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define NUNA_ADDRESS_TSAN 1
#endif
#endif

#if defined(NUNA_ADDRESS_TSAN)
inline constexpr std::uintptr_t kWindowBegin = 0x7e80'0000'0000;
inline constexpr Index kLargestSlotBytes = Index{1} << 34;
#else
inline constexpr std::uintptr_t kWindowBegin = 0x2000'0000'0000;
inline constexpr Index kLargestSlotBytes = Index{1} << 40;
#endif
inline constexpr int kWindowSlots = 48;  ///< of the largest size
inline constexpr Index kSmallestSlotBytes = Index{1} << 24;

/// For tests and for machines whose addresses are taken.
struct WindowOptions {
  bool table_mode = false;                       ///< never at fixed addresses
  Index largest_slot_bytes = kLargestSlotBytes;  ///< a power of two, at most kLargestSlotBytes
};

class Window;

/// The slots of one owner. Move-only.
class Slots {
 public:
  Slots(Slots&& other) noexcept;
  Slots& operator=(Slots&& other) noexcept;
  ~Slots();

  int places() const { return static_cast<int>(bases_.size()); }
  /// First byte of a place's memory: offset o of the owner's arena is base(place) + o, in every place.
  std::byte* base(base::PlaceId place) const;
  /// Bytes behind each base: a little less than a power of two, because of the colours.
  Index slot_bytes() const { return slot_bytes_; }
  /// The file behind a slot, or -1 where it has none: private memory, or a kernel without such files. Ours; do not close it.
  int file(base::PlaceId place) const;
  bool table_mode() const { return !addresses_.has_value(); }
  /// A second mapping of the host slot, closed: what a thread of the program gets at is opened piece by piece (mprotect).
  /// Made at the first call, wherever the kernel has room, and as large as the slot; find() knows its addresses as those of
  /// the host place. Null where the slot has no file, or no addresses are left: the second mappings of all owners together
  /// take as many as the window, so that their slots find room. Not from two threads.
  std::byte* view();
  /// Memory of its own, as large as the host slot and sparse: bytes that the program writes while an operation still reads what was
  /// there are kept in it, at the same offsets. Null where the machine refuses, or limits addresses.
  struct Twin {
    std::byte* first = nullptr;
    int file = -1;
  };
  Twin twin();
  /// Adds a place whose memory lies where somebody else has put it (a GPU's driver): [first, first + bytes), at least
  /// slot_bytes(), until these slots end. Not from two threads.
  void add_place(std::byte* first, Index bytes);

 private:
  friend class Window;
  Slots() = default;
  void release() noexcept;

  Window* window_ = nullptr;
  std::optional<Index> addresses_;         // where in the window's arena; none in table mode
  std::vector<Reservation> reservations_;  // one for all slots, or in table mode one for each
  std::vector<std::byte*> bases_;
  Index slot_bytes_ = 0;
  std::vector<File> files_;  // by place, some empty
  std::byte* view_ = nullptr;
  bool view_refused_ = false;
  std::optional<File> twin_file_;
  std::byte* twin_ = nullptr;
  Index spent_bytes_ = 0;  // of the window's allowance for mappings beside the slots
};

class Window {
 public:
  explicit Window(WindowOptions options = {});
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  /// The one that Contexts share. Never destroyed.
  static Window& of_process();

  /// What an owner asks for. `peers`: how many owners of this process (the ranks of an in-process cluster)
  /// will ask for the same, this one included; all then get slots of one size.
  struct Request {
    const void* owner = nullptr;  ///< given back by find(); the window does not look at it
    int device_places = 0;
    int peers = 1;
    bool mappable_devices = false;  ///< device slots are mappings of files, too
    bool view = false;              ///< view() will be asked for: a limit on address space leaves room for it
  };
  Slots acquire(const Request& request) NUNA_EXCLUDES(mutex_);

  /// Where a raw pointer points to.
  struct Found {
    const void* owner = nullptr;
    base::PlaceId place;
    Index offset = 0;
    friend bool operator==(const Found&, const Found&) = default;
  };
  /// Nothing for pointers that lie in no slot.
  std::optional<Found> find(const void* pointer) const NUNA_EXCLUDES(mutex_);
  /// The same, but false where another thread is at the table: for debuggers, which may have stopped that thread.
  bool try_find(const void* pointer, std::optional<Found>& found) const NUNA_EXCLUDES(mutex_);

 private:
  friend class Slots;
  struct Slot {
    Index bytes = 0;
    const void* owner = nullptr;
    base::PlaceId place;
  };

  std::optional<Found> look_up(const void* pointer) const NUNA_REQUIRES(mutex_);
  bool try_fixed(Slots& slots, int places, Index pitch, bool mappable) NUNA_REQUIRES(mutex_);
  bool try_table(Slots& slots, int places, Index pitch, bool mappable) NUNA_REQUIRES(mutex_);
  void forget(Slots& slots) NUNA_EXCLUDES(mutex_);
  void add(Slots& slots, std::byte* first, Index bytes) NUNA_EXCLUDES(mutex_);
  void add_view(Slots& slots, Reservation reservation, std::byte* first) NUNA_EXCLUDES(mutex_);
  std::optional<Reservation> beside(Slots& slots, Index bytes, Index leaving) NUNA_EXCLUDES(mutex_);

  const WindowOptions options_;
  mutable base::Mutex mutex_;
  Arena addresses_ NUNA_GUARDED_BY(mutex_);  // offsets from kWindowBegin
  Index allowance_ NUNA_GUARDED_BY(mutex_) =
      kWindowSlots * kLargestSlotBytes;                    // of addresses beside the slots
  std::uint64_t next_colour_ NUNA_GUARDED_BY(mutex_) = 0;  // of table mode, where position tells nothing
  absl::btree_map<std::uintptr_t, Slot> slots_ NUNA_GUARDED_BY(mutex_);  // by base
};

}  // namespace nuna::address
