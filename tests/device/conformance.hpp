#pragma once
// What every kind of device promises (device/device.hpp), as a fixture over the kinds. A new kind adds a row
// to kKinds.
//
// The suites reach device memory through copies only and gate operations with timelines of their own, so they
// hold for memories that the host cannot read and for queues that the host cannot stop.

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include "base/check.hpp"
#include "device/device.hpp"
#include "device/host/host_device.hpp"

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

struct Kind {
  std::string name;
  std::function<std::unique_ptr<Rig>(base::Doorbell&)> make;
};

inline const std::array<Kind, 3> kKinds{
    Kind{"host_1_thread", [](base::Doorbell& b) { return std::make_unique<HostRig>(b, 1, false); }},
    Kind{"host_3_threads", [](base::Doorbell& b) { return std::make_unique<HostRig>(b, 3, false); }},
    Kind{"host_place", [](base::Doorbell& b) { return std::make_unique<HostRig>(b, 2, true); }},
};

// ---- tools ----

inline Region run_of(std::byte* first, Index bytes) { return {first, {1, 1, 1}, {}, bytes}; }

/// Adds one to each element of a box of int32 elements.
inline void add_one(const void*, const Box& threads, const detail::InstanceView* views) {
  const detail::InstanceView& v = views[0];
  for (Index i = threads[0].begin; i < threads[0].end; ++i) {
    for (Index j = threads[1].begin; j < threads[1].end; ++j) {
      for (Index k = threads[2].begin; k < threads[2].end; ++k) {
        char* at = v.origin + i * v.stride_bytes[0] + j * v.stride_bytes[1] + k * v.stride_bytes[2];
        ++*reinterpret_cast<std::int32_t*>(at);
      }
    }
  }
}

/// Sets element 0 to 10 times itself plus the digit in the closure: the order of calls can be read off.
inline void append_digit(const void* closure, const Box&, const detail::InstanceView* views) {
  auto* number = reinterpret_cast<std::int64_t*>(views[0].origin);
  *number = *number * 10 + *static_cast<const int*>(closure);
}

/// Fails when element 0 is not the number that the closure expects, and counts it up.
inline void count_up(const void* closure, const Box&, const detail::InstanceView* views) {
  auto* number = reinterpret_cast<std::int64_t*>(views[0].origin);
  if (*number != *static_cast<const std::int64_t*>(closure)) throw std::runtime_error("out of order");
  ++*number;
}

inline void throw_always(const void*, const Box&, const detail::InstanceView*) {
  throw std::runtime_error("always");
}

class Conformance : public testing::TestWithParam<Kind> {
 protected:
  Conformance() : rig_(GetParam().make(bell_)), gate_(bell_) {}
  ~Conformance() override { gate_.complete(1'000'000); }  // whatever happened, let the device end

  Device& device() { return rig_->device(); }
  std::byte* at(Index offset) { return device().base() + offset; }

  KernelCall kernel(detail::RunFunction run, Index offset, const Box& threads = Box{{0, 1}}) {
    KernelCall call;
    call.name = "test";
    call.code.run = run;
    call.threads = threads;
    detail::InstanceView view;
    view.origin = reinterpret_cast<char*>(at(offset));
    view.stride_bytes = {8, 8, 8};
    call.views.push_back(view);
    return call;
  }
  KernelCall digit(int value, Index offset = 0) {
    KernelCall call = kernel(append_digit, offset);
    call.closure = std::make_shared<const int>(value);
    return call;
  }
  template <class T>
  T read(Index offset) {
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
