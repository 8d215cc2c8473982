#pragma once
// The kernels and variables of the program: what nunacc's objects register (image.h) and what clang's host code registers, matched
// when they are first asked for, because either may come first.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "access/kernel_model.hpp"
#include "cuda_runtime_api.h"
#include "nuna/box.hpp"
#include "nuna_cudart/image.h"

namespace nuna::cudart {

/// A kernel as the program names it.
struct Function {
  std::string name;  ///< mangled
  const nuna_kernel* kernel = nullptr;
  const nuna_image* image = nullptr;                   ///< that it is of
  std::unique_ptr<const access::KernelModel> model;    ///< of what it touches; null: the compiler left none
  cudaError_t error = cudaSuccess;                     ///< why it cannot be launched
  std::atomic<std::uint64_t> dynamic_shared_limit{0};  ///< as cudaFuncSetAttribute has it
  std::atomic<std::uint64_t> block_picoseconds{0};     ///< measured, of the last launches; 0: none yet
};

struct Variable {
  void* address = nullptr;
  std::size_t bytes = 0;
};

/// The addresses of the variable of which `address` is a byte's.
std::optional<Interval> variable_around(const nuna_image& image, Index address);

/// Any thread. Nothing that it returns ever goes away.
class Images {
 public:
  static Images& of_process();

  void add_image(const nuna_image& image);
  /// The images whose id is `id`, for names that are in several.
  void add_function(const void* host, std::string name, const std::string& id);
  void add_variable(const void* host, std::string name, const std::string& id, std::size_t bytes);
  /// A variable that the host sees as a pointer, to be filled with its address.
  void add_managed(void** host, std::string name, const std::string& id);
  /// Host code that goes away (a library that is unloaded).
  void forget(const std::vector<const void*>& hosts);

  /// Throws Refused: cudaErrorInvalidDeviceFunction, cudaErrorNoKernelImageForDevice.
  Function& function(const void* host);
  /// `host` is the host's name, or text that names it, as CUDA before 5 had it. Throws Refused (cudaErrorInvalidSymbol).
  Variable variable(const void* host);
  /// Whether the address is inside one of the device's variables.
  bool is_in_variable(const void* address) const;

 private:
  struct Entry {
    std::string name;
    std::string id;
    std::size_t bytes = 0;
    std::unique_ptr<Function> function;  // once resolved
  };

  const nuna_kernel* find_kernel(const Entry& entry, const nuna_image*& image) const;
  const nuna_variable* find_variable(const std::string& name, const std::string& id) const;
  const nuna_variable* variable_at(const void* address) const;
  const nuna_variable* variable_called(const void* text) const;
  std::unique_ptr<Function> resolve(const Entry& entry) const;
  void fill_managed();

  mutable std::shared_mutex mutex_;
  std::vector<const nuna_image*> images_;
  std::unordered_map<const void*, Entry> functions_;
  std::unordered_map<const void*, Entry> variables_;
  std::vector<std::pair<void**, Entry>> managed_;  // not filled yet
  std::atomic<std::uint64_t> generation_{1};       // of functions_
};

}  // namespace nuna::cudart
