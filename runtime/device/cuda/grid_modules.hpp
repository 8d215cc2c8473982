#pragma once
// GridModules: kernels that a program has as PTX text (detail::CudaGrid), on one device.
//
// Each device loads a text of its own, so that its variables are ordered by its streams like its memory. A variable's bytes are the
// host's: before a kernel that knows it they are brought if they have changed since, and afterwards they are given back if it writes it.
// So whoever changes a variable on the host, or lets a kernel of another device write it, waits for the kernels before.
//
// Threads: any. Failures: nuna::Error; unsupported for a text that the driver does not take, with what it says.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.hpp"
#include "device/cuda/card.hpp"
#include "device/cuda/lane.hpp"
#include "nuna/instance.hpp"

namespace nuna::device::cuda {

class GridModules {
 public:
  GridModules(Card& card, std::string device)
      : card_(card), driver_(card.driver()), device_(std::move(device)) {}
  /// No kernel of its modules runs any more.
  ~GridModules();
  GridModules(const GridModules&) = delete;
  GridModules& operator=(const GridModules&) = delete;

  /// Puts a grid on the stream; the card's context is current. As Lane's start functions: false when it needs a thread that may
  /// block and this is none.
  bool launch(const detail::CudaGrid& grid, std::string_view name, const Lane::Start& start)
      NUNA_EXCLUDES(mutex_);

 private:
  struct Entry {
    CUfunction function = nullptr;
    std::uint32_t most_shared_bytes = 0;  ///< that it may have, as far as it was asked for
  };
  struct Variable {
    CUdeviceptr address = 0;
    std::vector<std::byte> bytes;  ///< that the device has; none: not known
  };
  struct Module {
    CUmodule handle = nullptr;
    std::map<std::string, Entry, std::less<>> entries;
    std::map<std::string, Variable, std::less<>> variables;
  };

  Module& module_of(const detail::CudaGrid& grid, std::string_view name) NUNA_REQUIRES(mutex_);
  CUfunction function_of(Module& module, const detail::CudaGrid& grid) NUNA_REQUIRES(mutex_);
  Variable& variable_of(Module& module, const detail::CudaVariable& wanted) NUNA_REQUIRES(mutex_);
  void bring(Variable& variable, const detail::CudaVariable& wanted, CUstream stream) NUNA_REQUIRES(mutex_);
  void give_back(Variable& variable, const detail::CudaVariable& wanted, CUstream stream)
      NUNA_REQUIRES(mutex_);
  std::string about(std::string_view what) const { return "'" + std::string(what) + "' on " + device_; }

  Card& card_;
  const Driver& driver_;
  const std::string device_;
  base::Mutex mutex_;
  std::map<const char*, Module> modules_ NUNA_GUARDED_BY(mutex_);
};

}  // namespace nuna::device::cuda
