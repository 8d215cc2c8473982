#pragma once
// A kernel's launch as an operation of the lane.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "audit.hpp"
#include "images.hpp"
#include "lane.hpp"
#include "tiles.hpp"
#include "watcher.hpp"

namespace nuna::cudart {

struct LaunchShape {
  Grid grid{1, 1, 1};
  Grid block{1, 1, 1};
  std::uint64_t dynamic_shared_bytes = 0;
  bool cooperative = false;  ///< the blocks run at the same time and may wait for each other
};

/// Throws Refused as CUDA does: cudaErrorInvalidConfiguration and others.
void check_launch(const Function& function, const LaunchShape& shape);

/// The arguments are copied here.
class KernelAction final : public Action, public std::enable_shared_from_this<KernelAction> {
 public:
  KernelAction(Function& function, const void* host, const LaunchShape& shape, void** arguments);
  void run(Crew& crew) const override;
  std::string name() const override;
  bool orders_itself() const override { return true; }
  void for_each_kernel(const std::function<void(const KernelAction&)>& visit) const override { visit(*this); }
  /// Blocks by the calling thread, with these arguments; the kernel's error. `places`: for the audit.
  cudaError_t run_blocks(const GridBox& blocks, const void* const* arguments,
                         std::span<const PointerPlace> places) const;
  /// The same with the program's arguments, told to the watcher.
  cudaError_t run_watched(const GridBox& blocks, Watcher& watcher) const;

  /// Whether, by what launches of it took, to wake another thread costs more than it brings.
  bool is_known_short() const;
  /// Some blocks took that long on one thread.
  void note_time(std::uint64_t blocks, std::chrono::duration<double, std::pico> took) const;

  const Function& function() const { return function_; }
  const void* host() const { return host_; }  ///< by which the program names the function
  const LaunchShape& shape() const { return shape_; }
  const void* const* arguments() const { return pointers_; }
  /// One behind the other.
  std::vector<std::byte> packed_arguments() const;
  /// The same launch with these.
  std::shared_ptr<const KernelAction> with_arguments(std::vector<std::byte> packed) const;

 private:
  static constexpr std::size_t kFewBytes = 192;
  static constexpr std::size_t kFewArguments = 16;

  void copy_arguments(void** arguments);
  std::uint64_t blocks() const;
  void run_here(Crew& crew) const;
  void run_together() const;

  Function& function_;
  const void* const host_;
  const LaunchShape shape_;
  alignas(16) std::array<std::byte, kFewBytes> few_bytes_;
  std::array<const void*, kFewArguments> few_pointers_;
  const void** pointers_ = few_pointers_.data();
  std::vector<std::byte> many_bytes_;
  std::vector<const void*> many_pointers_;
};

}  // namespace nuna::cudart
