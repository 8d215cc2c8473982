#pragma once
// The peer of the GPU benchmarks: the driver's calls by themselves, on the first card, from one thread.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/timeline.hpp"
#include "device/cuda/card.hpp"
#include "device/cuda/cuda_device.hpp"
#include "device/cuda/host_pins.hpp"
#include "nuna/box.hpp"
#include "perf/measure.hpp"

namespace nuna::gpu {

using perf::Better;

inline constexpr Index kKiB = Index{1} << 10;
inline constexpr Index kMiB = Index{1} << 20;

/// How much to measure: on the stand-in little, and the figures say nothing.
struct Scale {
  bool small = false;
  std::size_t card_bytes = 0;
};

/// A stream and an event of the first card, whose context is the calling thread's while this lives.
class Bare {
 public:
  Bare() : card(*device::cuda::Card::all().front()), driver(card.driver()), current_(card) {
    check(driver.cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, 0),
          "cuStreamCreateWithPriority");
    check(driver.cuEventCreate(&event_, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
  }
  ~Bare() {
    driver.cuEventDestroy(event_);
    driver.cuStreamDestroy(stream);
  }
  Bare(const Bare&) = delete;
  Bare& operator=(const Bare&) = delete;

  void check(CUresult result, const char* call) const { driver.check(result, call, "the benchmark's peer"); }
  void settle() const { check(driver.cuStreamSynchronize(stream), "cuStreamSynchronize"); }
  /// Waits for what is on the stream, by an event that is asked again and again: as fast as one can know.
  void settle_by_event() const {
    check(driver.cuEventRecord(event_, stream), "cuEventRecord");
    CUresult state = CUDA_SUCCESS;
    while ((state = driver.cuEventQuery(event_)) == CUDA_ERROR_NOT_READY) {
    }
    check(state, "cuEventQuery");
  }
  void copy(const void* to, const void* from, Index bytes) const {
    check(driver.cuMemcpyAsync(reinterpret_cast<CUdeviceptr>(to), reinterpret_cast<CUdeviceptr>(from),
                               static_cast<std::size_t>(bytes), stream),
          "cuMemcpyAsync");
  }

  device::cuda::Card& card;
  const device::cuda::Driver& driver;
  CUstream stream = nullptr;

 private:
  device::cuda::Card::Current current_;
  CUevent event_ = nullptr;
};

/// A device of Nuna's on a card, without a Context.
class Rig {
 public:
  explicit Rig(int card, Index bytes, std::shared_ptr<device::cuda::HostPins> pins) {
    device::CudaDeviceConfig config;
    config.name = "cuda:" + std::to_string(card);
    config.card = card;
    config.range_bytes = static_cast<std::size_t>(bytes);
    config.memory_bytes = static_cast<std::size_t>(bytes);
    for (const auto& other : device::cuda::Card::all()) {
      const auto& mine = *device::cuda::Card::all()[static_cast<std::size_t>(card)];
      if (other->ordinal() != card && other->reaches(mine)) config.peers.push_back(other->ordinal());
    }
    config.pins = std::move(pins);
    config.bell = &bell_;
    device_ = device::make_cuda_device(config);
  }
  device::Device& device() { return *device_; }
  std::byte* at(Index offset) { return device_->base() + offset; }

 private:
  base::Doorbell bell_;
  std::unique_ptr<device::Device> device_;
};

void measure_copies(const perf::Report& report, const Scale& scale);
void measure_launches(const perf::Report& report, const Scale& scale);
/// False when Nuna and the hand-written kernel do not compute the same bits.
bool measure_waves(const perf::Report& report, const Scale& scale);

}  // namespace nuna::gpu
