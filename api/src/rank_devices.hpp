#pragma once
// What a rank computes on: the kind of its devices, and the GPUs among them. In a build without CUDA, always the host's cores.

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/settings.hpp"
#include "base/timeline.hpp"
#include "device/device.hpp"
#include "nuna/context.hpp"
#include "topology/gathered.hpp"
#include "trace/recorder.hpp"

namespace nuna::device::cuda {
class HostPins;
}

namespace nuna::detail {

/// Whether devices are GPUs: as the program or NUNA_DEVICE says, else if the driver shows some and the program has kernels for
/// them. Error: unsupported where they are asked for and there are none; bad_setting.
bool wants_cuda(DeviceKind kind, const base::Settings& settings);

/// Adds the GPUs that this process sees, and how much of them is free.
void tell_cards(topology::RankFacts& facts);

/// Whether kernels on one GPU can use the memory of another, or of the same.
bool card_reaches(int card, int other);

/// The GPUs of one rank.
class RankCards {
 public:
  struct Config {
    std::string prefix;  ///< of the devices' names: "rank 2 "
    topology::RankShares shares;
    Index range_bytes = 0;
    bool plain_memory = false;
    base::Doorbell* bell = nullptr;
    std::chrono::nanoseconds spin{};
    trace::Recorder* recorder = nullptr;
    base::RankId rank;
  };
  /// Error (device_failed, out_of_memory, unsupported) when one cannot be used.
  explicit RankCards(const Config& config);
  ~RankCards();
  RankCards(const RankCards&) = delete;
  RankCards& operator=(const RankCards&) = delete;

  std::vector<std::unique_ptr<device::Device>> take_devices() { return std::move(devices_); }

  /// Host memory that copies of the devices may use in place. Outlives the devices.
  void manage(std::byte* first, Index bytes) const;
  void unmanage(std::byte* first) const;
  void forget(std::byte* first, Index bytes) const;
  /// Whether memory is a GPU's, of this rank or not.
  bool is_on_card(const void* memory) const;
  /// Whether the program has pinned it: copies use it as it is.
  bool is_pinned(const void* memory) const;

 private:
  std::shared_ptr<device::cuda::HostPins> pins_;
  std::vector<std::unique_ptr<device::Device>> devices_;
};

}  // namespace nuna::detail
