#include "images.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "call.hpp"
#include "cpu_features.hpp"

namespace nuna::cudart {

Images& Images::of_process() {
  static auto* const only =
      new Images;  // constructors of other libraries register before ours, destructors after
  return *only;
}

void Images::add_image(const nuna_image& image) {
  if (image.version != NUNA_IMAGE_VERSION) {
    std::fprintf(stderr,
                 "nuna: a program was compiled by another version of nunacc (its kernels have format %u, "
                 "this is %u)\n",
                 image.version, NUNA_IMAGE_VERSION);
    return;
  }
  const std::unique_lock lock(mutex_);
  images_.push_back(&image);
  fill_managed();
}

void Images::add_function(const void* host, std::string name, const std::string& id) {
  const std::unique_lock lock(mutex_);
  functions_.insert_or_assign(host, Entry{std::move(name), id, 0, nullptr});
  generation_.fetch_add(1);
}

void Images::add_variable(const void* host, std::string name, const std::string& id, std::size_t bytes) {
  const std::unique_lock lock(mutex_);
  variables_.insert_or_assign(host, Entry{std::move(name), id, bytes, nullptr});
}

// The host reads the pointer without asking, so it is filled as soon as both sides are there.
void Images::add_managed(void** host, std::string name, const std::string& id) {
  const std::unique_lock lock(mutex_);
  variables_.insert_or_assign(host, Entry{name, id, 0, nullptr});
  managed_.emplace_back(host, Entry{std::move(name), id, 0, nullptr});
  fill_managed();
}

void Images::fill_managed() {
  std::erase_if(managed_, [this](const auto& wanted) {
    const nuna_variable* found = find_variable(wanted.second.name, wanted.second.id);
    if (found != nullptr) *wanted.first = found->address;
    return found != nullptr;
  });
}

void Images::forget(const std::vector<const void*>& hosts) {
  const std::unique_lock lock(mutex_);
  for (const void* host : hosts) {
    const auto found = functions_.find(host);
    if (found != functions_.end() && found->second.function != nullptr)
      continue;  // a launch may be under way
    functions_.erase(host);
    variables_.erase(host);
  }
  generation_.fetch_add(1);
}

// Of the image with the id of the host code; kernels of a device link, whose id is empty, are found by name alone.
const nuna_kernel* Images::find_kernel(const Entry& entry, const nuna_image*& image) const {
  for (const bool by_id : {true, false}) {
    for (const nuna_image* candidate : images_) {
      if ((entry.id == candidate->id) != by_id || (!by_id && *candidate->id != '\0')) continue;
      for (std::uint32_t k = 0; k < candidate->kernel_count; ++k) {
        if (entry.name != candidate->kernels[k].name) continue;
        image = candidate;
        return &candidate->kernels[k];
      }
    }
  }
  return nullptr;
}

const nuna_variable* Images::find_variable(const std::string& name, const std::string& id) const {
  for (const bool by_id : {true, false}) {
    for (const nuna_image* image : images_) {
      if ((id == image->id) != by_id || (!by_id && *image->id != '\0')) continue;
      for (std::uint32_t v = 0; v < image->variable_count; ++v) {
        if (name == image->variables[v].name) return &image->variables[v];
      }
    }
  }
  return nullptr;
}

// Nobody promises that there is text, nor that the address can be read.
const nuna_variable* Images::variable_called(const void* text) const {
  for (const nuna_image* image : images_) {
    for (std::uint32_t v = 0; v < image->variable_count; ++v) {
      const std::string_view name(image->variables[v].name);
      std::string there(name.size() + 1, '?');
      const iovec from{const_cast<void*>(text), there.size()}, to{there.data(), there.size()};
      const auto read = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
      if (read == static_cast<ssize_t>(there.size()) && there.back() == '\0' && name == there.c_str())
        return &image->variables[v];
    }
  }
  return nullptr;
}

// The host's name for a managed variable is the variable.
const nuna_variable* Images::variable_at(const void* address) const {
  for (const nuna_image* image : images_) {
    for (std::uint32_t v = 0; v < image->variable_count; ++v) {
      if (image->variables[v].address == address) return &image->variables[v];
    }
  }
  return nullptr;
}

bool Images::is_in_variable(const void* address) const {
  const std::shared_lock lock(mutex_);
  const auto holds = [address](const nuna_variable& variable) {
    return reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(variable.address) <
           variable.bytes;
  };
  return std::any_of(images_.begin(), images_.end(), [&](const nuna_image* image) {
    return std::any_of(image->variables, image->variables + image->variable_count, holds);
  });
}

std::unique_ptr<Function> Images::resolve(const Entry& entry) const {
  auto function = std::make_unique<Function>();
  function->name = entry.name;
  const nuna_image* image = nullptr;
  function->kernel = find_kernel(entry, image);
  if (function->kernel == nullptr) return nullptr;
  function->image = image;
  if (function->kernel->model != nullptr)
    function->model = std::make_unique<access::KernelModel>(access::read_model(function->kernel->model));
  const std::string missing = missing_feature(image->cpu == nullptr ? "" : image->cpu, has_cpu_feature);
  if (!missing.empty()) {
    std::fprintf(
        stderr,
        "nuna: kernel %s was compiled for CPUs with %s, which this one lacks (it needs %s): compile with "
        "nunacc -march=x86-64-v3, or -march=x86-64\n",
        entry.name.c_str(), missing.c_str(), image->cpu);
    function->error = cudaErrorNoKernelImageForDevice;
  }
  return function;
}

Function& Images::function(const void* host) {
  // What a thread launched last it is likely to launch next.
  struct Last {
    const void* host = nullptr;
    Function* function = nullptr;
    std::uint64_t generation = 0;
  };
  static thread_local Last last;
  const std::uint64_t generation = generation_.load(std::memory_order_acquire);
  if (last.host == host && last.generation == generation) return *last.function;
  const std::unique_lock lock(mutex_);
  const auto found = functions_.find(host);
  require(found != functions_.end(), cudaErrorInvalidDeviceFunction);
  Entry& entry = found->second;
  if (entry.function == nullptr) entry.function = resolve(entry);
  require(entry.function != nullptr, cudaErrorInvalidDeviceFunction);
  require(entry.function->error == cudaSuccess, entry.function->error);
  last = {host, entry.function.get(), generation};
  return *entry.function;
}

Variable Images::variable(const void* host) {
  const std::shared_lock lock(mutex_);
  const auto found = variables_.find(host);
  const nuna_variable* variable =
      found != variables_.end() ? find_variable(found->second.name, found->second.id) : variable_at(host);
  if (variable == nullptr) variable = variable_called(host);
  require(variable != nullptr, cudaErrorInvalidSymbol);
  return {variable->address, variable->bytes};
}

std::optional<Interval> variable_around(const nuna_image& image, Index address) {
  for (std::uint32_t v = 0; v < image.variable_count; ++v) {
    const auto first = static_cast<Index>(reinterpret_cast<std::uintptr_t>(image.variables[v].address));
    const Interval whole{first, first + static_cast<Index>(image.variables[v].bytes)};
    if (whole.contains(address)) return whole;
  }
  return std::nullopt;
}

}  // namespace nuna::cudart

extern "C" void __nuna_register_image(const nuna_image* image) {
  if (image != nullptr) nuna::cudart::Images::of_process().add_image(*image);
}
