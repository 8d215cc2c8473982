#pragma once
// Packet: the packed bytes of one message.
//
// It is not zeroed when it grows, because all of it is written before it is read, and packing and receiving then bring the
// pages in, not the program's thread: a message of 2.2 GiB through shared memory takes a third less time.

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

namespace nuna::execute {

template <class T>
struct UnsetAllocator : std::allocator<T> {
  static_assert(std::is_trivially_default_constructible_v<T>);
  template <class U>
  struct rebind {  // NOLINT(readability-identifier-naming): the standard's name
    using other = UnsetAllocator<U>;
  };
  template <class U>
  void construct(U* place) noexcept {
    ::new (static_cast<void*>(place)) U;
  }
};

using Packet = std::vector<std::byte, UnsetAllocator<std::byte>>;

}  // namespace nuna::execute
