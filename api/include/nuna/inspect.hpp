#pragma once
// What a pointer is: for people, tests and debuggers. See Context::owner, holders and describe.

#include <string>

#include "nuna/config.hpp"

namespace nuna {
inline namespace v0 {

/// One memory of a Context.
struct Memory {
  static constexpr int kHost = -1;  ///< the rank's host memory (with one host device, that device's as well)
  static constexpr int kUnknown = -2;  ///< some memory of another rank, which alone knows which
  int rank = 0;
  int device = kHost;  ///< of the rank, from 0; or one of the above

  bool is_host() const { return device == kHost; }
  friend bool operator==(Memory a, Memory b) { return a.rank == b.rank && a.device == b.device; }
  friend bool operator!=(Memory a, Memory b) { return !(a == b); }
};

/// "the host of rank 0", "device 1 of rank 0", "rank 3".
NUNA_API std::string to_string(Memory memory);

}  // namespace v0
}  // namespace nuna

extern "C" {

/// Context::describe for debuggers, of whichever Context the address belongs to; a text for any pointer. Changes nothing, never
/// throws, waits 0.1 s at most for a thread that is inside the Context and then says so. The text is good until the same
/// thread's next call. In a Context of several ranks the rank's own thread must be stopped, or be the caller.
NUNA_API const char* nuna_describe(const void* pointer);

/// The same for a Buffer: the address of one (&buffer, of any type). Waits for nothing.
NUNA_API const char* nuna_describe_buffer(const void* buffer);

}  // extern "C"
