#pragma once
// The host device: kernels, copies and fills on CPU threads, as one in-order device (device/device.hpp).
//
// One thread, the leader, takes operations from a queue; with more threads than one it is joined by a team
// for kernels and for copies and fills above 1 MiB. An operation that finds the queue busy costs its
// submitter no system call and no allocation. Several host devices with memories of their own stand in for
// GPUs.

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/timeline.hpp"
#include "device/device.hpp"
#include "trace/recorder.hpp"
#include "trace/stats.hpp"

namespace nuna::device {

struct HostDeviceConfig {
  std::string name;  ///< for people and traces: "host:1"
  int threads = 1;   ///< that run a kernel at once, the leader included

  /// The address range, whole pages, reserved by the caller until the device's end. A private
  /// anonymous mapping, or with `shared_mapping` a shared, writable one, whose pages are given back by punching holes. Its
  /// protection is the device's business (it is closed where nothing is committed), but for a shared mapping that
  /// `shares_host_memory`: that is open always, unless it is to be `closed`. What is `closed` is so from the beginning; else what nobody has
  /// used yet may be open.
  std::byte* base = nullptr;
  std::size_t range_bytes = 0;
  std::size_t memory_bytes = 0;  ///< limit of what may be committed, counted in pages
  bool shared_mapping = false;
  bool shares_host_memory = false;
  bool closed = false;

  /// Told before pages are given back to the system, by whoever gives them back: others may hold on to them.
  std::function<void(std::byte* first, Index bytes)> before_giving_back;

  base::Doorbell* bell = nullptr;  ///< rung when an operation completes; outlives the device

  /// What the device does is recorded here, if anywhere; the track is the device's own.
  trace::Recorder* recorder = nullptr;
  trace::TrackId track;
  trace::Stats* stats = nullptr;  ///< where the time of copies is counted, if anywhere

  /// How long idle threads spin before they sleep. Zero when the process has more threads than cores. Unset:
  /// 20 us when this device's threads and a submitter have a core each, else zero.
  std::optional<std::chrono::nanoseconds> spin;
};

/// Starts the device's threads. Panics on a configuration that makes no sense.
std::unique_ptr<Device> make_host_device(const HostDeviceConfig& config);

}  // namespace nuna::device
