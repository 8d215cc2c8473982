#include "shared_kernel.hpp"

#include <time.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <limits>
#include <utility>

#include "grid_launch.hpp"
#include "ptx_parts.hpp"
#include "ranks.hpp"
#include "spread.hpp"

namespace nuna::cudart {
namespace {

/// Arguments as a kernel takes them, of the calling thread.
class DeviceArguments {
 public:
  /// Those of the program, with the pointers of these views.
  void set(const SharedKernel& kernel, const detail::InstanceView* views) {
    const KernelAction& action = *kernel.action;
    const nuna_kernel& code = *action.function().kernel;
    pointers_.assign(action.arguments(), action.arguments() + code.parameters);
    std::size_t words = 0;
    for (const PointerPatch& patch : *kernel.patches) words += words_of(code.parameter_bytes[patch.argument]);
    memory_.resize(std::max(memory_.size(), words));
    std::max_align_t* next = memory_.data();
    for (const PointerPatch& patch : *kernel.patches) {
      const void*& argument = pointers_[patch.argument];
      const std::size_t bytes = code.parameter_bytes[patch.argument];
      if (argument == action.arguments()[patch.argument]) {
        std::memcpy(next, argument, bytes);
        argument = next;
        next += words_of(bytes);
      }
      const char* const pointer = views[patch.view].origin + patch.in_buffer;
      std::memcpy(static_cast<std::byte*>(const_cast<void*>(argument)) + patch.offset,
                  static_cast<const void*>(&pointer), sizeof pointer);
    }
  }
  void add(const void* argument) { pointers_.push_back(argument); }
  const void* const* pointers() const { return pointers_.data(); }

 private:
  // 16 bytes each at least, as the code may load whole vectors.
  static std::size_t words_of(std::size_t bytes) { return bytes / sizeof(std::max_align_t) + 1; }

  std::vector<std::max_align_t> memory_;
  std::vector<const void*> pointers_;
};

thread_local DeviceArguments arguments;
thread_local std::array<std::uint32_t, kPartWords> part_words;

std::vector<PointerPlace> places_of(const SharedKernel& kernel, const detail::InstanceView* views) {
  std::vector<PointerPlace> places;
  if (Audit::of(kernel.action->function()) == nullptr) return places;
  for (const PointerPatch& patch : *kernel.patches) {
    const auto origin = static_cast<Index>(reinterpret_cast<std::uintptr_t>(views[patch.view].origin));
    places.push_back({patch.pointer, {origin + patch.allocation.begin, origin + patch.allocation.end}});
  }
  return places;
}

}  // namespace

std::uint64_t thread_cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

std::uint64_t cost_of_thread_cpu_ns() {
  static const std::uint64_t least = [] {
    constexpr int kTries = 100;
    std::uint64_t cost = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t last = thread_cpu_ns();
    for (int i = 0; i < kTries; ++i) {
      const std::uint64_t now = thread_cpu_ns();
      cost = std::min(cost, now - std::exchange(last, now));
    }
    return cost;
  }();
  return least;
}

thread_local KernelsHere* KernelsHere::now = nullptr;

void SharedKernel::run(const void* self, const Box& blocks, const detail::InstanceView* views) {
  const auto& kernel = *static_cast<const SharedKernel*>(self);
  arguments.set(kernel, views);
  const std::vector<PointerPlace> places = places_of(kernel, views);
  const Heard heard;
  KernelsHere* const counted = KernelsHere::now;
  const std::uint64_t before = counted == nullptr ? 0 : thread_cpu_ns();
  const auto start = std::chrono::steady_clock::now();
  const cudaError_t error = kernel.action->run_blocks(blocks_of(blocks), arguments.pointers(), places);
  kernel.action->note_time(static_cast<std::uint64_t>(blocks.count()),
                           std::chrono::steady_clock::now() - start);
  if (counted != nullptr) {
    counted->cpu_ns += thread_cpu_ns() - before;
    ++counted->count;
  }
  if (error != cudaSuccess) kernel.spread->note_error(error);
}

void SharedKernel::grid(const void* self, const Box& blocks, const detail::InstanceView* views,
                        detail::CudaGrid& grid) {
  const auto& kernel = *static_cast<const SharedKernel*>(self);
  const LaunchShape& shape = kernel.action->shape();
  const GridBox part = blocks_of(blocks);
  for (std::size_t a = 0; a < 3; ++a) {
    part_words[a] = part.first[a];
    part_words[3 + a] = shape.grid[a];
    grid.blocks[a] = part.last[a] - part.first[a];
    grid.block[a] = shape.block[a];
  }
  arguments.set(kernel, views);
  arguments.add(part_words.data());
  grid.module = kernel.gpu->module;
  grid.entry = kernel.gpu->entry.c_str();
  grid.dynamic_shared_bytes = static_cast<std::uint32_t>(shape.dynamic_shared_bytes);
  grid.parameters = const_cast<void**>(arguments.pointers());
  grid.variables = kernel.gpu->variables.data();
  grid.variable_count = kernel.gpu->variables.size();
}

}  // namespace nuna::cudart
