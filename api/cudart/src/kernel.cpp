#include "kernel.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <system_error>
#include <thread>

#include "call.hpp"
#include "device.hpp"
#include "grid_barrier.hpp"
#include "guarded_run.hpp"
#include "limits.hpp"
#include "profile.hpp"
#include "ranks.hpp"

namespace nuna::cudart {
namespace {

constexpr std::size_t kArgumentAlignment = 16;
constexpr std::uint64_t kTilesPerThread = 16;
constexpr double kShortPicoseconds = 15e6;  // below it, to wake a helper costs more than it brings

std::size_t aligned(std::size_t bytes) {
  return (bytes + kArgumentAlignment - 1) / kArgumentAlignment * kArgumentAlignment;
}

// Of each worker thread, kept and grown.
class Scratch {
 public:
  unsigned char* at_least(std::uint64_t bytes) {
    if (bytes > bytes_) {
      bytes_ = (bytes + 4095) / 4096 * 4096;
      memory_.reset(static_cast<unsigned char*>(std::aligned_alloc(4096, bytes_)));
      if (memory_ == nullptr) bytes_ = 0;
    }
    return memory_.get();
  }

 private:
  struct Free {
    void operator()(unsigned char* memory) const { std::free(memory); }
  };
  std::unique_ptr<unsigned char, Free> memory_;
  std::uint64_t bytes_ = 0;
};

thread_local Scratch scratch;
// That of the launch whose block this thread runs; null where its blocks do not run together.
thread_local GridBarrier* grid_barrier = nullptr;

// Blocks on this thread, audited if they are to be.
int run_box(const Function& function, const nuna_block_call& call,
            std::span<const PointerPlace> places = {}) {
  const auto run = [&function](const nuna_block_call& blocks) { return run_guarded(function, blocks); };
  KernelAudit* const audit = Audit::of(function);
  return audit == nullptr ? run(call) : audit->run(call, places, run);
}

std::uint64_t scratch_bytes_of(const KernelAction& action, std::uint64_t threads) {
  return nuna_scratch_bytes(action.function().kernel, threads, action.shape().dynamic_shared_bytes) + 64;
}

// On this thread, of no blocks yet. Its scratch memory is null where there is none.
nuna_block_call call_of(const KernelAction& action, std::uint64_t threads) {
  const LaunchShape& shape = action.shape();
  nuna_block_call call{};
  for (std::size_t a = 0; a < 3; ++a) {
    call.grid[a] = shape.grid[a];
    call.block[a] = shape.block[a];
  }
  call.arguments = action.arguments();
  call.dynamic_shared_bytes = shape.dynamic_shared_bytes;
  call.scratch = scratch.at_least(scratch_bytes_of(action, threads));
  call.block_index = block_index_here();
  return call;
}

void set_box(nuna_block_call& call, const GridBox& blocks) {
  std::copy(blocks.first.begin(), blocks.first.end(), call.first);
  std::copy(blocks.last.begin(), blocks.last.end(), call.last);
}

class KernelJob final : public Job {
 public:
  KernelJob(const KernelAction& action, const Tiles& tiles, std::uint64_t threads)
      : Job(tiles.count()), action_(action), tiles_of_grid_(tiles), threads_(threads) {}

  void work() override {
    nuna_block_call call = call_of(action_, threads_);
    if (call.scratch == nullptr) return fail(cudaErrorMemoryAllocation);
    for (std::uint64_t tile = take(); tile < tiles(); tile = take()) {
      tiles_of_grid_.tile(tile, call.first, call.last);
      if (const int error = run_box(action_.function(), call)) return fail(static_cast<cudaError_t>(error));
    }
  }

 private:
  void fail(cudaError_t error) {
    set_sticky_error(error);
    stop();
  }

  const KernelAction& action_;
  const Tiles tiles_of_grid_;
  const std::uint64_t threads_;
};

std::uint64_t product(const Grid& grid) { return std::uint64_t{grid[0]} * grid[1] * grid[2]; }

}  // namespace

void check_launch(const Function& function, const LaunchShape& shape) {
  const nuna_kernel& kernel = *function.kernel;
  for (std::size_t a = 0; a < 3; ++a) {
    require(shape.grid[a] >= 1 && shape.grid[a] <= limits::kGrid[a], cudaErrorInvalidConfiguration);
    require(shape.block[a] >= 1 && shape.block[a] <= limits::kBlock[a], cudaErrorInvalidConfiguration);
  }
  const std::uint64_t threads = product(shape.block);
  require(threads <= limits::kThreadsPerBlock, cudaErrorInvalidConfiguration);
  require(threads <= kernel.max_threads_per_block, cudaErrorInvalidConfiguration);
  const std::uint64_t limit = function.dynamic_shared_limit.load(std::memory_order_relaxed);
  const std::uint64_t allowed = std::max<std::uint64_t>(
      limit,
      limits::kSharedBytes - std::min<std::uint64_t>(limits::kSharedBytes, kernel.static_shared_bytes));
  require(shape.dynamic_shared_bytes <= allowed, cudaErrorInvalidValue);
  for (std::size_t a = 0; a < 3; ++a) {
    if ((kernel.flags & NUNA_KERNEL_31_BIT_INDICES) == 0) break;
    if (std::uint64_t{shape.grid[a]} * shape.block[a] < std::uint64_t{1} << 31) continue;
    const std::string name = "a launch of kernel " + function.name;
    throw Refused{
        refuse_function(name.c_str(), "has 2^31 threads or more along an axis, which is not supported")};
  }
}

KernelAction::KernelAction(Function& function, const void* host, const LaunchShape& shape, void** arguments)
    : function_(function), host_(host), shape_(shape) {
  copy_arguments(arguments);
}

void KernelAction::copy_arguments(void** arguments) {
  const nuna_kernel& kernel = *function_.kernel;
  require(arguments != nullptr || kernel.parameters == 0, cudaErrorInvalidValue);
  std::size_t bytes = 0;
  for (std::uint32_t p = 0; p < kernel.parameters; ++p) bytes += aligned(kernel.parameter_bytes[p]);
  std::byte* next = few_bytes_.data();
  if (bytes > few_bytes_.size()) {
    many_bytes_.resize(bytes + kArgumentAlignment);
    const auto address = reinterpret_cast<std::uintptr_t>(many_bytes_.data());
    next = many_bytes_.data() + (aligned(address) - address);
  }
  if (kernel.parameters > few_pointers_.size()) {
    many_pointers_.resize(kernel.parameters);
    pointers_ = many_pointers_.data();
  }
  for (std::uint32_t p = 0; p < kernel.parameters; ++p) {
    require(arguments[p] != nullptr, cudaErrorInvalidValue);
    std::memcpy(next, arguments[p], kernel.parameter_bytes[p]);
    pointers_[p] = next;
    next += aligned(kernel.parameter_bytes[p]);
  }
}

std::string KernelAction::name() const {
  const auto text = [](const Grid& sizes) {
    return "(" + std::to_string(sizes[0]) + ", " + std::to_string(sizes[1]) + ", " +
           std::to_string(sizes[2]) + ")";
  };
  return "a launch of " + function_.name + " with blocks " + text(shape_.grid) + " of " + text(shape_.block) +
         " threads";
}

std::vector<std::byte> KernelAction::packed_arguments() const {
  std::vector<std::byte> packed;
  for (std::uint32_t p = 0; p < function_.kernel->parameters; ++p) {
    const auto* const first = static_cast<const std::byte*>(pointers_[p]);
    packed.insert(packed.end(), first, first + function_.kernel->parameter_bytes[p]);
  }
  return packed;
}

std::shared_ptr<const KernelAction> KernelAction::with_arguments(std::vector<std::byte> packed) const {
  std::vector<void*> arguments;
  std::byte* next = packed.data();
  for (std::uint32_t p = 0; p < function_.kernel->parameters; ++p) {
    arguments.push_back(next);
    next += function_.kernel->parameter_bytes[p];
  }
  return std::make_shared<KernelAction>(function_, host_, shape_, arguments.data());
}

std::uint64_t KernelAction::blocks() const { return product(shape_.grid); }

bool KernelAction::is_known_short() const {
  const std::uint64_t each = function_.block_picoseconds.load(std::memory_order_relaxed);
  return each != 0 && static_cast<double>(each) * static_cast<double>(blocks()) < kShortPicoseconds;
}

void KernelAction::note_time(std::uint64_t blocks, std::chrono::duration<double, std::pico> took) const {
  const double each = took.count() / static_cast<double>(blocks);
  function_.block_picoseconds.store(static_cast<std::uint64_t>(each) + 1, std::memory_order_relaxed);
}

// A thread for each block, since they wait for each other. This one waits for all.
void KernelAction::run_together() const {
  GridBarrier barrier(blocks());
  const Tiles each(shape_.grid, 1);
  const auto run_block = [&](std::uint64_t block) {
    nuna_block_call call = call_of(*this, product(shape_.block));
    each.tile(block, call.first, call.last);
    int error = cudaErrorMemoryAllocation;
    if (call.scratch != nullptr) {
      grid_barrier = &barrier;
      error = run_box(function_, call);
      grid_barrier = nullptr;
    }
    if (error != 0) set_sticky_error(static_cast<cudaError_t>(error));
    barrier.leave(error != 0);
  };
  std::vector<std::thread> threads;
  try {
    for (std::uint64_t block = 0; block < blocks(); ++block) threads.emplace_back(run_block, block);
  } catch (const std::system_error&) {  // the system has no more threads
    set_sticky_error(cudaErrorLaunchOutOfResources);
    barrier.leave(true);
  }
  for (std::thread& thread : threads) thread.join();
}

cudaError_t KernelAction::run_blocks(const GridBox& blocks, const void* const* arguments,
                                     std::span<const PointerPlace> places) const {
  nuna_block_call call = call_of(*this, product(shape_.block));
  if (call.scratch == nullptr) return cudaErrorMemoryAllocation;
  call.arguments = arguments;
  set_box(call, blocks);
  return static_cast<cudaError_t>(run_box(function_, call, places));
}

cudaError_t KernelAction::run_watched(const GridBox& blocks, Watcher& watcher) const {
  nuna_block_call call = call_of(*this, product(shape_.block));
  if (call.scratch == nullptr) return cudaErrorMemoryAllocation;
  set_box(call, blocks);
  const WatchingHere here(watcher, call.scratch, scratch_bytes_of(*this, product(shape_.block)));
  return static_cast<cudaError_t>(run_guarded(function_, call));
}

void KernelAction::run(Crew& crew) const {
  if (KernelAudit* const audit = Audit::of(function_)) audit->count_launch();
  Spread* const spread = Device::get().spread();
  if (spread == nullptr) return run_here(crew);
  const std::shared_ptr<const KernelAction> agreed = spread->agreed(*this);
  if (Profile* const profile = Device::get().profile(); profile != nullptr && profile->launch(*agreed, crew))
    return;
  if (spread->launch(*agreed)) return;
  if (spread->begin_turn(*agreed)) agreed->run_here(crew);
  spread->end_turn();
}

void KernelAction::run_here(Crew& crew) const {
  if (shape_.cooperative && blocks() > 1) return run_together();
  const auto threads = static_cast<std::uint64_t>(crew.threads());
  const bool alone = threads == 1 || blocks() == 1 || is_known_short();
  const std::uint64_t per_tile = alone ? blocks() : blocks() / (threads * kTilesPerThread);
  KernelJob job(*this, Tiles(shape_.grid, per_tile), product(shape_.block));
  const auto start = std::chrono::steady_clock::now();
  crew.perform(job, alone);
  note_time(blocks(), (std::chrono::steady_clock::now() - start) * static_cast<int>(alone ? 1 : threads));
}

}  // namespace nuna::cudart

extern "C" int __nuna_grid_is_together(void) { return nuna::cudart::grid_barrier != nullptr ? 1 : 0; }

extern "C" void __nuna_grid_barrier(void) {
  nuna::cudart::GridBarrier* const barrier = nuna::cudart::grid_barrier;
  if (barrier != nullptr && !barrier->wait()) __nuna_end_kernel(cudaErrorLaunchFailure);
}

extern "C" nuna_thread_state* __nuna_thread_state(void) {
  static thread_local nuna_thread_state state{};
  return &state;
}

extern "C" int __nuna_error_output(void) { return nuna::cudart::Heard::errors(); }
