#pragma once
// What every kind of device promises (device/device.hpp), as a fixture over the kinds. A new kind adds a row
// to kKinds.
//
// The suites reach device memory through copies only and gate operations with timelines of their own, so they
// hold for memories that the host cannot read and for queues that the host cannot stop.

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "base/failure.hpp"
#include "device/conformance_kernels.hpp"
#include "device/device.hpp"
#include "device/host/host_device.hpp"
#ifdef NUNA_WITH_CUDA
#include "device/cuda/cuda_device.hpp"
#endif

namespace nuna::device::conformance {

inline constexpr Index kRange = Index{1} << 26;
inline constexpr Index kLimit = Index{1} << 24;
inline constexpr Index kMiB = Index{1} << 20;

// ---- kinds of devices ----

/// A device and what its range needs.
class Rig {
 public:
  virtual ~Rig() = default;
  virtual Device& device() = 0;
  /// Completes and ends the device, but not its range.
  virtual void end_device() = 0;
};

class HostRig final : public Rig {
 public:
  HostRig(base::Doorbell& bell, int threads, bool shares_host_memory) {
    HostDeviceConfig config;
    if (shares_host_memory) {
      file_ = memfd_create("host-place", MFD_CLOEXEC);
      if (ftruncate(file_, kRange) != 0) base::panic("a memory file of the test cannot grow");
      config.shared_mapping = true;
    }
    const int protection = shares_host_memory ? PROT_READ | PROT_WRITE : PROT_NONE;
    const int flags = MAP_NORESERVE | (shares_host_memory ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS);
    base_ = static_cast<std::byte*>(mmap(nullptr, kRange, protection, flags, file_, 0));
    config.name = "host:1";
    config.threads = threads;
    config.base = base_;
    config.range_bytes = kRange;
    config.memory_bytes = kLimit;
    config.shares_host_memory = shares_host_memory;
    config.bell = &bell;
    device_ = make_host_device(config);
  }
  ~HostRig() override {
    device_.reset();
    munmap(base_, kRange);
    if (file_ >= 0) close(file_);
  }
  HostRig(const HostRig&) = delete;
  HostRig& operator=(const HostRig&) = delete;
  Device& device() override { return *device_; }
  void end_device() override { device_.reset(); }

 private:
  int file_ = -1;
  std::byte* base_ = nullptr;
  std::unique_ptr<Device> device_;
};

#ifdef NUNA_WITH_CUDA
class CudaRig final : public Rig {
 public:
  CudaRig(base::Doorbell& bell, bool plain) {
    CudaDeviceConfig config;
    config.name = "cuda:0";
    config.range_bytes = kRange;
    config.memory_bytes = kLimit;
    config.plain_memory = plain;
    config.pins = make_host_pins(0);
    config.bell = &bell;
    device_ = make_cuda_device(config);
  }
  Device& device() override { return *device_; }
  void end_device() override { device_.reset(); }

 private:
  std::unique_ptr<Device> device_;
};
#endif

struct Kind {
  std::string name;
  std::function<std::unique_ptr<Rig>(base::Doorbell&)> make;
  bool host = true;      ///< the CPU runs its kernels
  Index granule = 4096;  ///< what is committed and given back at a time
  bool sparse = true;    ///< its range may be larger than its memory
};

/// Those that this build and machine have.
inline std::vector<Kind> kinds() {
  std::vector<Kind> all{
      {"host_1_thread", [](base::Doorbell& b) { return std::make_unique<HostRig>(b, 1, false); }},
      {"host_3_threads", [](base::Doorbell& b) { return std::make_unique<HostRig>(b, 3, false); }},
      {"host_place", [](base::Doorbell& b) { return std::make_unique<HostRig>(b, 2, true); }},
  };
#ifdef NUNA_WITH_CUDA
  if (find_cards().cards.empty()) {
    std::fprintf(stderr, "CUDA devices are not tested: %s\n", find_cards().why_none.c_str());
    return all;
  }
  constexpr Index kGranule = Index{2} << 20;
  all.push_back({"cuda_mapped", [](base::Doorbell& b) { return std::make_unique<CudaRig>(b, false); }, false,
                 kGranule});
  all.push_back({"cuda_plain", [](base::Doorbell& b) { return std::make_unique<CudaRig>(b, true); }, false,
                 4096, false});
#endif
  return all;
}

/// Those that can be asked for more than they have: their range is larger than their memory.
inline std::vector<Kind> sparse_kinds() {
  std::vector<Kind> all = kinds();
  std::erase_if(all, [](const Kind& kind) { return !kind.sparse; });
  return all;
}

// ---- tools ----

inline Region run_of(std::byte* first, Index bytes) { return {first, {1, 1, 1}, {}, bytes}; }

/// The failure's text, or nothing.
inline std::string said(const base::Ticket& ticket) {
  const std::exception_ptr failure = ticket.failure();
  return failure == nullptr ? "" : base::text_of(failure);
}

inline void PrintTo(const Kind& kind, std::ostream* to) { *to << kind.name; }

class Conformance : public testing::TestWithParam<Kind> {
 protected:
  Conformance() : rig_(GetParam().make(bell_)), gate_(bell_) {}
  ~Conformance() override { gate_.complete(1'000'000); }  // whatever happened, let the device end

  Device& device() { return rig_->device(); }
  std::byte* at(Index offset) { return device().base() + offset; }

  KernelCall kernel(TestKernel kernel, Index offset, const Box& threads = Box{{0, 1}}) {
    KernelCall call;
    call.name = "test";
    call.code = kernel.code;
    call.closure = std::move(kernel.closure);
    call.threads = threads;
    detail::InstanceView view;
    view.origin = reinterpret_cast<char*>(at(offset));
    view.stride_bytes = {8, 8, 8};
    call.views.push_back(view);
    return call;
  }
  KernelCall digit(int value, Index offset = 0) { return kernel(append_digit(value), offset); }
  /// Waits for all that was submitted.
  void settle() { device().join({}).wait(); }
  template <class T>
  T read(Index offset) {
    settle();
    T value{};
    device()
        .copy(run_of(reinterpret_cast<std::byte*>(&value), sizeof value), run_of(at(offset), sizeof value),
              {})
        .wait();
    return value;
  }
  void zero(Index offset, Index bytes) {
    device().commit({offset, offset + bytes});
    device().fill(run_of(at(offset), bytes), std::byte{0}, {}).wait();
  }
  base::Ticket gate(std::uint64_t value) { return {&gate_, value}; }

  base::Doorbell bell_;
  std::unique_ptr<Rig> rig_;
  base::Timeline gate_;
};

}  // namespace nuna::device::conformance
