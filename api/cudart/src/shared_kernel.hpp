#pragma once
// A kernel as launches of Nuna's over several devices have it (GridLaunch::run, cuda): each part runs with the pointers of its device's
// memory in the place of the program's.

#include <cstdint>
#include <memory>
#include <vector>

#include "gpu_kernels.hpp"
#include "kernel.hpp"
#include "nuna/instance.hpp"
#include "pointer_patch.hpp"

namespace nuna::cudart {

class Spread;

/// Of the calling thread.
std::uint64_t thread_cpu_ns();
/// What a call of that takes: a system call, of which there are several in a launch that is counted.
std::uint64_t cost_of_thread_cpu_ns();

/// While one lives, counts the CPU time of kernels on its thread, and how many they were.
struct KernelsHere {
  static thread_local KernelsHere* now;
  std::uint64_t cpu_ns = 0;
  std::uint64_t count = 0;
  KernelsHere() { now = this; }
  ~KernelsHere() { now = nullptr; }
  KernelsHere(const KernelsHere&) = delete;
  KernelsHere& operator=(const KernelsHere&) = delete;
};

struct SharedKernel {
  Spread* spread = nullptr;  ///< told of errors
  std::shared_ptr<const KernelAction> action;
  std::shared_ptr<const std::vector<PointerPatch>> patches;
  const GpuKernel* gpu = nullptr;  ///< null on host devices

  /// On a host device.
  static void run(const void* self, const Box& blocks, const detail::InstanceView* views);
  /// On a GPU. What it points to is the calling thread's, until its next call.
  static void grid(const void* self, const Box& blocks, const detail::InstanceView* views,
                   detail::CudaGrid& grid);
  static constexpr detail::CudaKernel kOnGpu{nullptr, nullptr, nullptr, &grid};
};

}  // namespace nuna::cudart
