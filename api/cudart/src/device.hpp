#pragma once
// The device that programs see: the host devices of a Nuna Context, their lane and their memory. Made by the first call that needs it.
//
// One host device is that device. Several (NUNA_DEVICES), and GPUs (NUNA_DEVICE=cuda), share the launches that can be shared (spread.hpp); all else is done on the
// host, by threads of the library's own.

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>

#include "call.hpp"
#include "lane.hpp"
#include "memory.hpp"
#include "nuna/context.hpp"
#include "spread.hpp"
#include "team.hpp"
#include "turns.hpp"

namespace nuna::cudart {

/// Of this machine and the environment; needs no device.
struct DeviceFacts {
  DeviceKind kind = DeviceKind::host;  ///< NUNA_DEVICE: GPUs only where it says cuda
  int devices = 1;                     ///< NUNA_DEVICES
  bool asks_for_devices = false;       ///< it is set: else of GPUs a rank's share
  int threads = 1;  ///< of all devices: NUNA_THREADS each, or the cores that the process may use
  int cores = 1;
  std::size_t memory_bytes = 0;  ///< NUNA_MEMORY_LIMIT, or the machine's
  static const DeviceFacts& here();
  /// As the program is told them: of several ranks rank 0's, which needs the device.
  static const DeviceFacts& told();
};

class Profile;

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
  Spread* spread() { return spread_ ? &*spread_ : nullptr; }  ///< null with one device
  Profile* profile() { return profile_.get(); }               ///< null where there is no profile mode
  /// Whether the program runs on several ranks, which make the same calls.
  bool replicated() const { return spread_ && spread_->replicated(); }
  /// Waits for an operation, after which the host sees managed memory as it is then.
  void wait(Ticket ticket);
  const DeviceFacts& facts() const { return facts_; }  ///< rank 0's
  /// Rank 0's value, of a number that ranks may measure differently.
  double agreed(double value);
  /// Waits for all work; throws the error that a kernel has left.
  void synchronize();
  /// In an operation, behind what runs: what has failed on one of several ranks has failed on all.
  static void agree_on_failures();
  /// Waits until what runs has ended, whatever it ends with; what it tells is then told.
  static void let_end() noexcept;

  Device();
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

 private:
  void end();
  void gather(const std::shared_ptr<Crew>& crew);
  void become_replicated();

  DeviceFacts facts_ = DeviceFacts::here();
  std::optional<Turns> turns_;
  Lane lane_;
  std::optional<Context> context_;
  Memory memory_;
  std::optional<Spread> spread_;
  std::unique_ptr<Profile> profile_;
  std::optional<Team> team_;
};

/// device_call for functions that wait: they do so on a device that has failed, too.
template <class Work>
cudaError_t waiting_call(Work&& work) noexcept {
  if (sticky_error() != cudaSuccess && !InHostFunction::here()) Device::let_end();
  return device_call(std::forward<Work>(work));
}

}  // namespace nuna::cudart
