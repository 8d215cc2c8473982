#pragma once
// The device that programs see: one host device of a Nuna Context, its lane and its memory. Made by the first call that needs it.

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>

#include "lane.hpp"
#include "memory.hpp"
#include "nuna/context.hpp"

namespace nuna::cudart {

/// Of this machine and the environment; needs no device.
struct DeviceFacts {
  int threads = 1;  ///< NUNA_THREADS, or the cores that the process may use
  int cores = 1;
  std::size_t memory_bytes = 0;  ///< NUNA_MEMORY_LIMIT, or the machine's
  static const DeviceFacts& here();
};

class Device {
 public:
  /// The device. Refuses with cudaErrorCudartUnloading once the process is ending, with cudaErrorInitializationError if
  /// Nuna cannot start (and says why).
  static Device& get();
  /// The device if some call has needed it, else null.
  static Device* if_there() noexcept;
  /// Whether what runs at exit has taken the device down.
  static bool ended() noexcept;

  Lane& lane() { return lane_; }
  Memory& memory() { return memory_; }
  /// Waits for all work; throws the error that a kernel has left.
  void synchronize();

  Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

 private:
  void end();
  void gather(std::shared_ptr<void> crew);

  Lane lane_;
  std::optional<Context> context_;
  Memory memory_;
};

}  // namespace nuna::cudart
