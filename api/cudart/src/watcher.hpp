#pragma once
// Who is told of each byte that kernels of nunacc --audit touch, before they do (__nuna_audit in image.h).

#include <cstddef>
#include <cstdint>

#include "nuna/box.hpp"
#include "nuna_cudart/image.h"

namespace nuna::cudart {

/// One access.
struct Touch {
  Interval bytes;  ///< addresses; not empty
  nuna_audit_kind kind = NUNA_AUDIT_READ;
  const char* file = nullptr;  ///< outlives the process
  std::uint32_t line = 0;      ///< 0: unknown

  bool writes() const { return kind != NUNA_AUDIT_READ; }
};

/// Where in the source the code of the calling thread has touched memory last, or is about to. Of audited code; line 0: unknown.
struct TouchedLine {
  const char* file = nullptr;  ///< outlives the process
  std::uint32_t line = 0;
};
TouchedLine last_touched_line();

/// Of one thread, which runs blocks.
class Watcher {
 public:
  /// The address at which this thread finds the bytes: that of the code, or of a device's copy. May end the kernel
  /// (__nuna_end_kernel), which skips destructors.
  virtual Index touch(const Touch& access) = 0;

 protected:
  ~Watcher() = default;
};

/// The calling thread's watcher while one lives: what __nuna_audit speaks to. To be made by a frame around the blocks' own.
class WatchingHere {
 public:
  explicit WatchingHere(Watcher& watcher, const unsigned char* scratch = nullptr,
                        std::size_t scratch_bytes = 0);
  ~WatchingHere();
  WatchingHere(const WatchingHere&) = delete;
  WatchingHere& operator=(const WatchingHere&) = delete;

  /// By a watcher: whether the address is of the blocks' scratch memory, or of the stack between its frame and WatchingHere's.
  static bool is_own(Index address);
};

}  // namespace nuna::cudart
