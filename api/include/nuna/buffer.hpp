#pragma once
// Buffer: an array in the one address space, with instances wherever they are needed.

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "nuna/access_map.hpp"
#include "nuna/box.hpp"
#include "nuna/config.hpp"
#include "nuna/host_view.hpp"

namespace nuna {
inline namespace v0 {

class Context;

namespace detail {

class BufferState;
class ContextState;

/// The untyped part of a Buffer.
class NUNA_API BufferHandle {
 public:
  BufferHandle(const Context& context, const Extents& extents, int dims, Index element_bytes, CallSite site);
  /// Of memory that the program has.
  BufferHandle(const Context& context, void* memory, const Extents& extents, int dims, Index element_bytes,
               CallSite site);
  BufferHandle(BufferHandle&&) noexcept = default;
  BufferHandle& operator=(BufferHandle&& other) noexcept;
  ~BufferHandle();

  const Extents& extents() const;
  ViewHandle open(const Box& box, Access access, CallSite site) const;
  ViewHandle open_bytes(Interval bytes, Access access, CallSite site) const;
  ViewHandle open_at(int rank, const Box& box, CallSite site) const;
  ViewHandle open_local(const Box& box, CallSite site) const;
  void* open_all(CallSite site) const;
  /// Opens the whole buffer as data() does, until close_all(), for a program that all ranks run alike: rank 0's bytes count. On rank 0
  /// alone, or `everywhere`.
  void open_led(bool everywhere, CallSite site) const;
  void close_all(CallSite site) const;
  void* address() const;
  void set_block(Index bytes, CallSite site) const;
  std::vector<Box> local_boxes() const;
  void give_back(CallSite site) const;
  void release(CallSite site);
  const std::shared_ptr<BufferState>& state() const;
  bool has_state() const { return state_ != nullptr; }  ///< not moved from

 private:
  std::shared_ptr<BufferState> state_;
};

}  // namespace detail

/// A row-major array of `T` with N = 1 to 3 axes (slowest first), owned by a Context, which outlives it.
///
/// Move-only. Creating, opening and destroying are replicated calls in a Context of several ranks: all ranks make them
/// in the same order. The address range is reserved at creation; memory follows use, on the devices that use it.
/// Contents are undefined until written. Destroying a buffer waits for what still uses it.
/// Errors: invalid_argument for an empty or oversized shape, out_of_memory when the address range is exhausted.
template <class T, int N>
class Buffer {
  static_assert(std::is_trivially_copyable<T>::value, "elements are trivially copyable");

 public:
  using element_type = T;

  Buffer(const Context& context, const Extents& extents, const char* file = __builtin_FILE(),
         int line = __builtin_LINE())
      : handle_(context, extents, N, static_cast<Index>(sizeof(T)), {file, line}) {}

  /// A buffer of memory that the program has already: `memory` holds the array, dense, and is the buffer's instance from now
  /// on, so that nothing is copied where the device can use it in place. It is either the CPU's (not of another buffer), or a
  /// CUDA allocation of a GPU that a device of this Context is on. On several ranks each gives memory of its own with the same
  /// contents; a replicated call.
  ///
  /// While the buffer lives the program leaves the memory alone, except through host views; after give_back() it holds the newest
  /// contents until the next launch that writes. The end of the buffer gives back, too, unless an exception is on its way; the
  /// memory must live longer. Errors: invalid_argument for a null pointer, a pointer that is no multiple of T's alignment, or
  /// a GPU that no device is on; not_nuna_pointer for memory of Nuna's own.
  static Buffer adopt(const Context& context, T* memory, const Extents& extents,
                      const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return Buffer(
        detail::BufferHandle(context, memory, extents, N, static_cast<Index>(sizeof(T)), {file, line}));
  }
  /// Brings the newest contents into adopted memory, on every rank, and waits. Does nothing for other buffers.
  void give_back(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    handle_.give_back({file, line});
  }

  const Extents& extents() const { return handle_.extents(); }
  Index size() const { return extents().count(); }

  /// Opens the whole buffer (or a box of it) for the host; see HostView. Waits for the launches that produce what is
  /// read, and throws their failure. Every rank opens the same box.
  HostView<T, N> host(Access access, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return HostView<T, N>(handle_.open(Box(extents()), access, {file, line}));
  }
  HostView<T, N> host(const Box& box, Access access, const char* file = __builtin_FILE(),
                      int line = __builtin_LINE()) {
    return HostView<T, N>(handle_.open(box, access, {file, line}));
  }
  /// Opens bytes [begin, end) of the dense array, at any byte boundary, as a view of bytes indexed from the buffer's
  /// start.
  HostView<unsigned char, 1> host_bytes(Interval bytes, Access access, const char* file = __builtin_FILE(),
                                        int line = __builtin_LINE()) {
    return HostView<unsigned char, 1>(handle_.open_bytes(bytes, access, {file, line}));
  }
  /// Reads a box back to one rank only; a replicated call. On the other ranks the view is empty (box().empty()).
  HostView<const T, N> host_at(int rank, const Box& box, const char* file = __builtin_FILE(),
                               int line = __builtin_LINE()) {
    return HostView<const T, N>(handle_.open_at(rank, box, {file, line}));
  }
  /// Reads a box that this rank holds already (one of local_boxes(), or inside one): no rank is asked, so this is not a
  /// replicated call. invalid_argument when the rank does not hold all of it.
  HostView<const T, N> host_local(const Box& box, const char* file = __builtin_FILE(),
                                  int line = __builtin_LINE()) {
    return HostView<const T, N>(handle_.open_local(box, {file, line}));
  }
  /// The boxes whose newest contents were produced by (or exist alike on) this rank, disjoint over the ranks when
  /// they come from launches. Sorted by first index.
  std::vector<Box> local_boxes() const { return handle_.local_boxes(); }

  /// Opens the whole buffer for reading and writing until close(), for code that wants a bare pointer. In a Context of one rank the
  /// pointer stays good across launches, and nothing is waited for or moved before it is touched; where what a failed launch
  /// should have written is touched, the old bytes are there, one warning says so, and wait() throws the failure.
  T* data(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return static_cast<T*>(handle_.open_all({file, line}));
  }
  void close(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    handle_.close_all({file, line});
  }

  /// The buffer's address on this rank, for Context::copy and for printing. It may be dereferenced only while the
  /// buffer is open.
  T* address() const { return static_cast<T*>(handle_.address()); }

  /// Bytes that are brought and opened together when the host touches them: a power of two from 4 KiB to 2 MiB (NUNA_BLOCK,
  /// 64 KiB). Less for single elements far apart, more for whole arrays. Before the host opens the buffer; else
  /// invalid_argument.
  void set_block(Index bytes, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    handle_.set_block(bytes, {file, line});
  }

  /// Gives the buffer back before the handle's end. Using it afterwards is ErrorCode::already_released.
  void release(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    handle_.release({file, line});
  }

  friend void swap(Buffer& a, Buffer& b) noexcept { std::swap(a.handle_, b.handle_); }

  const detail::BufferHandle& handle() const { return handle_; }

 private:
  explicit Buffer(detail::BufferHandle handle) : handle_(std::move(handle)) {}
  detail::BufferHandle handle_;
};

/// A buffer as an argument of a launch: see read(), write(), read_write(), may_write().
template <class T, int N>
struct Argument {
  const detail::BufferHandle* buffer;
  AccessMap map;
  bool reads;
  bool writes;
  bool may;
  std::optional<int> device = std::nullopt;  ///< see on()
};

/// The kernel reads what the map says.
template <class T, int N>
Argument<const T, N> read(const Buffer<T, N>& buffer, AccessMap map = one_to_one()) {
  return {&buffer.handle(), std::move(map), true, false, false};
}
/// The kernel writes every byte of what the map says, and reads none of it. Parts must not overlap.
template <class T, int N>
Argument<T, N> write(const Buffer<T, N>& buffer, AccessMap map = one_to_one()) {
  return {&buffer.handle(), std::move(map), false, true, false};
}
/// The kernel reads and writes what the map says. Parts must not overlap.
template <class T, int N>
Argument<T, N> read_write(const Buffer<T, N>& buffer, AccessMap map = one_to_one()) {
  return {&buffer.handle(), std::move(map), true, true, false};
}
/// The kernel writes some of what the map says: the old contents are fetched first (D8). Parts must not overlap.
template <class T, int N>
Argument<T, N> may_write(const Buffer<T, N>& buffer, AccessMap map = one_to_one()) {
  return {&buffer.handle(), std::move(map), false, true, true};
}

/// The kernel uses the buffer in the memory of `device` (numbered as for launches on one device), in place, if the device that
/// runs the kernel can reach it: host devices of one rank reach each other, GPUs of one rank where they have peer access.
/// Otherwise it uses an instance of its own, as without on(): what it lacks is copied. Context::describe says which it
/// is; results are the same. The newest bytes that `device` lacks are copied there first, and what is written is then
/// held there.
///
///   context.launch("blur", nuna::on(1), slab, block, Blur{}, nuna::on(0, nuna::read(above, last_rows)), nuna::write(mine));
///
/// Errors of the launch: invalid_argument for a device that is not there, and where another argument is the same buffer and
/// one of them writes.
template <class T, int N>
Argument<T, N> on(int device, Argument<T, N> argument) {
  argument.device = device;
  return argument;
}
/// The whole buffer, for reading. Where it cannot be used in place, all of it is copied: give the map of what is read then.
template <class T, int N>
Argument<const T, N> on(int device, const Buffer<T, N>& buffer) {
  return on(device, read(buffer, whole()));
}

}  // namespace v0
}  // namespace nuna
