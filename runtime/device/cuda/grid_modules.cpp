#include "device/cuda/grid_modules.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "nuna/error.hpp"

namespace nuna::device::cuda {
namespace {

/// Kernels may have so much without asking.
constexpr std::uint32_t kUsualSharedBytes = 48 << 10;

std::span<const detail::CudaVariable> variables_of(const detail::CudaGrid& grid) {
  return {grid.variables, grid.variable_count};
}

bool writes(const detail::CudaVariable& variable) { return variable.written; }

}  // namespace

GridModules::~GridModules() {
  const Card::Current current(card_, std::nothrow);
  const base::MutexLock lock(mutex_);
  for (const auto& [text, module] : modules_) driver_.cuModuleUnload(module.handle);
}

bool GridModules::launch(const detail::CudaGrid& grid, std::string_view name, const Lane::Start& start) {
  const auto variables = variables_of(grid);
  // A copy to memory that is not pinned returns when it is done.
  if (!start.may_block && std::any_of(variables.begin(), variables.end(), writes)) return false;
  const base::MutexLock lock(mutex_);
  Module& module = module_of(grid, name);
  const CUfunction function = function_of(module, grid);
  for (const detail::CudaVariable& each : variables) bring(variable_of(module, each), each, start.stream);
  driver_.check(driver_.cuLaunchKernel(function, grid.blocks[0], grid.blocks[1], grid.blocks[2],
                                       grid.block[0], grid.block[1], grid.block[2], grid.dynamic_shared_bytes,
                                       start.stream, grid.parameters, nullptr),
                "cuLaunchKernel", about(name));
  for (const detail::CudaVariable& each : variables) {
    if (each.written) give_back(variable_of(module, each), each, start.stream);
  }
  return true;
}

GridModules::Module& GridModules::module_of(const detail::CudaGrid& grid, std::string_view name) {
  const auto known = modules_.find(grid.module);
  if (known != modules_.end()) return known->second;
  std::array<char, 2048> said{};
  std::array<CUjit_option, 2> options{CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  std::array<void*, 2> values{said.data(),
                              reinterpret_cast<void*>(said.size())};  // NOLINT(performance-no-int-to-ptr)
  Module made;
  const CUresult result =
      driver_.cuModuleLoadDataEx(&made.handle, grid.module, options.size(), options.data(), values.data());
  if (result != CUDA_SUCCESS) {
    if (breaks_context(result)) throw driver_.failure(result, "cuModuleLoadDataEx", about(name));
    const std::string_view text(said.data(), strnlen(said.data(), said.size()));
    throw Error(ErrorCode::unsupported,
                "the PTX of kernel " + about(name) + " is refused by the driver (" + driver_.name_of(result) +
                    (text.empty() ? "" : ": ") + std::string(text) +
                    "): compile it for an older GPU (-arch), or use the " + "CPU (NUNA_DEVICE=host)");
  }
  return modules_.emplace(grid.module, std::move(made)).first->second;
}

CUfunction GridModules::function_of(Module& module, const detail::CudaGrid& grid) {
  auto found = module.entries.find(grid.entry);
  if (found == module.entries.end()) {
    Entry made{nullptr, kUsualSharedBytes};
    driver_.check(driver_.cuModuleGetFunction(&made.function, module.handle, grid.entry),
                  "cuModuleGetFunction", about(grid.entry));
    found = module.entries.emplace(grid.entry, made).first;
  }
  Entry& entry = found->second;
  if (grid.dynamic_shared_bytes > entry.most_shared_bytes) {
    driver_.check(driver_.cuFuncSetAttribute(entry.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                             static_cast<int>(grid.dynamic_shared_bytes)),
                  "cuFuncSetAttribute", about(grid.entry));
    entry.most_shared_bytes = grid.dynamic_shared_bytes;
  }
  return entry.function;
}

GridModules::Variable& GridModules::variable_of(Module& module, const detail::CudaVariable& wanted) {
  const auto known = module.variables.find(wanted.name);
  if (known != module.variables.end()) return known->second;
  Variable made;
  std::size_t bytes = 0;
  driver_.check(driver_.cuModuleGetGlobal(&made.address, &bytes, module.handle, wanted.name),
                "cuModuleGetGlobal", about(wanted.name));
  if (bytes != wanted.bytes) {
    throw Error(ErrorCode::unsupported, "variable " + about(wanted.name) + " has " + std::to_string(bytes) +
                                            " bytes, and " + std::to_string(wanted.bytes) + " on the host");
  }
  return module.variables.emplace(wanted.name, std::move(made)).first->second;
}

void GridModules::bring(Variable& variable, const detail::CudaVariable& wanted, CUstream stream) {
  if (variable.bytes.size() == wanted.bytes &&
      std::memcmp(variable.bytes.data(), wanted.host, wanted.bytes) == 0)
    return;
  const auto* const first = static_cast<const std::byte*>(wanted.host);
  variable.bytes.assign(first, first + wanted.bytes);
  driver_.check(driver_.cuMemcpyAsync(variable.address, reinterpret_cast<CUdeviceptr>(variable.bytes.data()),
                                      wanted.bytes, stream),
                "cuMemcpyAsync", about(wanted.name));
}

void GridModules::give_back(Variable& variable, const detail::CudaVariable& wanted, CUstream stream) {
  variable.bytes.clear();
  driver_.check(driver_.cuMemcpyAsync(reinterpret_cast<CUdeviceptr>(wanted.host), variable.address,
                                      wanted.bytes, stream),
                "cuMemcpyAsync", about(wanted.name));
}

}  // namespace nuna::device::cuda
