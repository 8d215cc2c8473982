#pragma once
// HostAccess: what Program must know of threads that use a buffer's bytes on the host without calls (adsm).
//
// Threads may touch bytes at any time. While paused, they get at nothing that they do not reach already, so Program may look at
// what they have written, change who holds what, and start operations. A buffer that the host never opened has none.
//
// Threads: called by the thread that is inside the Program; nothing here waits for long.

#include <vector>

#include "base/boxes.hpp"

namespace nuna::execute {

class HostAccess {
 public:
  virtual ~HostAccess() = default;

  /// Nests. Returns when no thread is about to change anything.
  virtual void pause() = 0;
  /// The buffer's residency and users are what they are now, from here on.
  virtual void resume() = 0;

  virtual bool is_paused() const = 0;

  /// Dense bytes that the program may have written, and those whose memory in the host place it has used, since this was asked
  /// last; ascending. While paused.
  /// `twins`: written while operations still read what was there, and kept elsewhere since: the buffer's byte 0 would be at
  /// `twin`. To be copied to the host place when those operations are over; it may be written again after that copy only.
  struct News {
    std::vector<Interval> written;
    std::vector<Interval> used;
    std::vector<Interval> twins;
    std::byte* twin = nullptr;
  };
  virtual News take_news() = 0;
  /// Whether there are some: the pausing thread itself may touch bytes.
  virtual bool has_news() const = 0;

  /// Before operations that read and write these boxes start: the program cannot write the former any more, nor touch the
  /// latter, until it asks again. While paused.
  virtual void close(const base::BoxList& reads, const base::BoxList& writes) = 0;
};

/// Paused for a scope.
class Paused {
 public:
  explicit Paused(HostAccess& access) : access_(access) { access_.pause(); }
  ~Paused() { access_.resume(); }
  Paused(const Paused&) = delete;
  Paused& operator=(const Paused&) = delete;

 private:
  HostAccess& access_;
};

}  // namespace nuna::execute
