#pragma once
// The CUDA device: kernels, copies and fills on one GPU (device/device.hpp), through the driver that is loaded at run time.
//
// Each has three streams: kernels and fills, copies in, copies out; the copies' have priority, because launches wait for them.
// Several devices, of several Contexts and threads, may share one card (HPE, section 4.1): each enqueues from its own thread,
// and no lock is held longer than that takes. A thread of the device's own, the keeper, sees what has completed: it asks the
// streams' events, again at once while little time has passed, and after ever longer pauses (up to 0.1 ms) later.
//
// This header includes nothing of CUDA's. Threads and failures: as device.hpp.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/timeline.hpp"
#include "device/device.hpp"
#include "trace/recorder.hpp"

namespace nuna::device {

namespace cuda {
class HostPins;
}

/// A GPU, as far as others need to know it.
struct CardInfo {
  std::string name;                  ///< "NVIDIA H200"
  std::array<std::byte, 16> uuid{};  ///< the same in every process of the node
  std::int64_t memory_bytes = 0;
  int major = 0;  ///< compute capability
  int minor = 0;
  std::int64_t copy_bytes_per_second = 0;  ///< within its memory, by its clock and bus
  std::vector<bool> reaches;               ///< the memory of which others it can use, by ordinal
};

/// What the driver shows to this process, by ordinal.
struct CardsFound {
  std::vector<CardInfo> cards;
  std::string why_none;  ///< a half-sentence, if there are none
};
/// The first call loads the driver, and says in one line (NUNA_LOG=info) what was found.
const CardsFound& find_cards();
/// Bytes that a card has free now. Error (device_failed) when it cannot be used.
std::int64_t free_card_bytes(int card);

/// Whether an address is memory of some GPU.
bool is_card_memory(const void* memory);
/// Whether it is host memory that the program has pinned.
bool is_pinned_memory(const void* memory);

/// What registers host memory for the cards' copies (cuda/host_pins.hpp), for the devices of one rank.
std::shared_ptr<cuda::HostPins> make_host_pins(int card);

struct CudaDeviceConfig {
  std::string name;  ///< for people and traces: "cuda:1"
  int card = 0;
  std::size_t range_bytes = 0;           ///< of addresses
  std::byte* wished = nullptr;           ///< where the addresses should begin; the driver decides
  std::size_t memory_bytes = 0;          ///< limit of what may be committed
  bool plain_memory = false;             ///< without the driver's virtual-memory calls
  std::vector<int> peers;                ///< cards whose devices copy from this memory themselves
  std::shared_ptr<cuda::HostPins> pins;  ///< may be null: host memory is not pinned then

  base::Doorbell* bell = nullptr;  ///< rung when an operation completes; outlives the device
  std::chrono::nanoseconds spin{20'000};

  trace::Recorder* recorder = nullptr;
  std::array<trace::TrackId, 3> tracks;  ///< of kernels, copies in, copies out
};

/// Error (device_failed, out_of_memory, unsupported) when the card cannot be used.
std::unique_ptr<Device> make_cuda_device(const CudaDeviceConfig& config);

}  // namespace nuna::device
