#pragma once
// Card: one GPU as this process sees it, shared by all devices (of whatever Context and thread) that compute on it.
//
// It holds the GPU's primary context, the one that the CUDA runtime uses too, so that Nuna and other CUDA code of a program
// see the same memory, streams and modules. A Current makes it the calling thread's context for a scope.
//
// A kernel that faults, or a GPU that vanishes, breaks the context for good: the first to see it says so with lose(), and from
// then on every operation on every device of the card fails with that error.
//
// Threads: any.

#include <cuda.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "base/mutex.hpp"
#include "device/cuda/driver.hpp"
#include "nuna/instance.hpp"

namespace nuna::device::cuda {

class Card {
 public:
  Card(const Driver& driver, int ordinal);
  Card(const Card&) = delete;
  Card& operator=(const Card&) = delete;

  /// Of the process, by ordinal; made once, never destroyed (the driver may be gone before static destructors run).
  static const std::vector<std::unique_ptr<Card>>& all();

  const Driver& driver() const { return driver_; }
  int ordinal() const { return ordinal_; }
  CUdevice handle() const { return handle_; }
  const std::string& name() const { return name_; }  ///< "NVIDIA H200"
  const std::array<std::byte, 16>& uuid() const { return uuid_; }
  std::size_t memory_bytes() const { return memory_bytes_; }
  int attribute(CUdevice_attribute which) const;
  bool reaches(const Card& other) const;  ///< kernels and copies of this card can use the other's memory

  /// While one lives, the card's context is the calling thread's. The first retains it; Error (device_failed, out_of_memory) when
  /// it cannot be made.
  class Current {
   public:
    explicit Current(Card& card);
    /// Where nothing can be thrown: if the context cannot be had, calls that need it fail.
    Current(Card& card, std::nothrow_t) noexcept;
    ~Current();
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;

   private:
    Card& card_;
    bool pushed_ = true;
  };

  std::size_t free_bytes();

  /// The entry of a kernel on this card. Error (unsupported) when the program has no code for it.
  CUfunction function(const detail::CudaKernel& kernel, std::string_view name) NUNA_EXCLUDES(mutex_);
  /// The same of Nuna's own, which no launch names.
  CUfunction builtin(const char* name) NUNA_EXCLUDES(mutex_);

  /// The failure that broke the context, or null.
  std::exception_ptr lost() const NUNA_EXCLUDES(mutex_);
  bool is_lost() const { return lost_.load(std::memory_order_acquire); }
  /// The first failure stays, with what the card ran when it was seen. `device`: whose call saw it. Returns it. The caller holds
  /// no lock that a watcher needs.
  std::exception_ptr lose(const Error& failure, const std::string& device) NUNA_EXCLUDES(mutex_);

  /// Asks, when the card is lost, what is on: each device that is on the card tells.
  void watch(const void* who, std::function<std::string()> running) NUNA_EXCLUDES(watchers_mutex_);
  void unwatch(const void* who) NUNA_EXCLUDES(watchers_mutex_);

 private:
  CUcontext context() NUNA_EXCLUDES(mutex_);
  std::string running() NUNA_EXCLUDES(watchers_mutex_);
  CUfunction find_builtin(const char* name) NUNA_REQUIRES(mutex_);

  const Driver& driver_;
  const int ordinal_;
  CUdevice handle_ = 0;
  std::string name_;
  std::array<std::byte, 16> uuid_{};
  std::size_t memory_bytes_ = 0;
  std::atomic<CUcontext> context_{nullptr};
  std::atomic<bool> lost_{false};
  mutable base::Mutex mutex_;
  std::exception_ptr failure_ NUNA_GUARDED_BY(mutex_);
  base::Mutex watchers_mutex_;  // held while they tell; before the locks that they take
  std::map<const void*, std::function<std::string()>> watchers_ NUNA_GUARDED_BY(watchers_mutex_);
  CUmodule module_ NUNA_GUARDED_BY(mutex_) = nullptr;
  std::map<const detail::CudaKernel*, CUfunction> functions_ NUNA_GUARDED_BY(mutex_);
  std::map<std::string, CUfunction, std::less<>> builtins_ NUNA_GUARDED_BY(mutex_);
};

}  // namespace nuna::device::cuda
