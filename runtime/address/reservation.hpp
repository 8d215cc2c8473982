#pragma once
// Address space from the kernel: reserved ranges, and slots of memory inside them.
//
// A Reservation is a closed range of address space; it costs nothing but addresses. map_slot() opens a part
// of it: readable and writable, without a page behind it until it is used. Slots are left out of core dumps
// and of forked children (a large buffer mapped twice would be dumped twice).
//
// Threads: one at a time for each object. Ownership: a Reservation unmaps its whole range, slots included.
// Failure: a null value; why is of no use to the caller, who tries something smaller.

#include <cstddef>
#include <cstdint>
#include <optional>

#include "nuna/box.hpp"

namespace nuna::address {

/// A file descriptor that is closed with its owner; empty is -1.
class File {
 public:
  File() = default;
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  ~File();
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_ = -1;
};

class Reservation {
 public:
  /// Exactly at `address`, if nothing lies there.
  static std::optional<Reservation> at(std::uintptr_t address, Index bytes);
  /// Wherever there is room.
  static std::optional<Reservation> anywhere(Index bytes);

  Reservation(Reservation&& other) noexcept;
  Reservation& operator=(Reservation&& other) noexcept;
  ~Reservation();

  std::byte* begin() const { return begin_; }
  Index bytes() const { return bytes_; }

  /// Opens [offset, offset + bytes) as private memory. False if the machine refuses.
  bool map_private(Index offset, Index bytes) const;
  /// Opens it as the beginning of `file`, shared with whoever maps the file.
  bool map_shared(Index offset, Index bytes, const File& file) const;
  /// The same, but closed until pages of it are opened (mprotect).
  bool map_closed(Index offset, Index bytes, const File& file) const;
  /// Opens it as shared memory without a file, for kernels that give us none.
  bool map_shared(Index offset, Index bytes) const;

 private:
  Reservation(std::byte* begin, Index bytes) : begin_(begin), bytes_(bytes) {}
  bool map(Index offset, Index bytes, int protection, int flags, int descriptor) const;

  std::byte* begin_ = nullptr;
  Index bytes_ = 0;
};

/// A file of `bytes` bytes in memory, sparse; empty if the kernel or a limit on file sizes refuses.
std::optional<File> memory_file(Index bytes);

/// Address space that this process may still take, or nothing if it is unlimited.
std::optional<Index> address_space_left();

}  // namespace nuna::address
