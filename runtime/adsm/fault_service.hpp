#pragma once
// FaultService: the threads that do for a fault what its handler may not: submit a copy to a device, tell a failure (D7).
//
// A handler leaves a request in one of a fixed number of slots, wakes a thread, and goes on waiting; it never waits for
// the service itself, only for the bytes. The threads start with the first request's chance (in the constructor, which no
// handler calls). One holds the rank's turn while it works. The other works in the stead of a faulting thread that has the turn
// itself - a user's access function that reads a view while a launch is planned -, because that thread stands still: it must not
// wait behind requests that wait for its turn.
//
// Threads: ask() and doubt() from any, in handlers.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>

#include "base/turn.hpp"
#include "nuna/box.hpp"

namespace nuna::adsm {

class HostSide;

class FaultService {
 public:
  struct Request {
    HostSide* side = nullptr;
    Index first = 0;  ///< block
    Index count = 0;
    bool paused = false;  ///< by the thread that faulted
    bool doubt = false;   ///< nothing is to be brought: tell whether what made the block has failed
  };
  /// `work` is called with the turn held, so one request at a time; the side may be gone by then.
  FaultService(base::Turn& turn, std::function<void(const Request&)> work);
  ~FaultService();
  FaultService(const FaultService&) = delete;
  FaultService& operator=(const FaultService&) = delete;

  /// Asks for blocks in host memory. False when all slots are taken: ask again. Who asks touches nothing else before they are
  /// there.
  bool ask(HostSide& side, Index first, Index count, bool paused) noexcept {
    return post({&side, first, count, paused, false});
  }
  /// Asks to tell the failure of what made a block.
  void doubt(HostSide& side, Index block) noexcept { post({&side, block, 1, false, true}); }

 private:
  static constexpr std::uint32_t kFree = 0;
  static constexpr std::uint32_t kFilling = 1;
  static constexpr std::uint32_t kPosted = 2;
  struct Slot {
    std::atomic<std::uint32_t> state{kFree};
    Request request;
  };
  static constexpr std::size_t kSlots = 64;
  struct Queue {
    std::array<Slot, kSlots> slots;
    std::atomic<std::uint32_t> posts{0};
    std::thread thread;
  };

  bool post(const Request& request) noexcept;
  template <class F>
  void serve(Queue& queue, F work);

  base::Turn& turn_;
  std::function<void(const Request&)> work_;
  std::atomic<bool> stopping_{false};
  Queue waiting_;   // for the turn
  Queue standing_;  // of who has it
};

}  // namespace nuna::adsm
