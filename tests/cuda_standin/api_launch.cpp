// Functions: their attributes, and how they are launched.

#include <algorithm>
#include <cstring>
#include <thread>

#include "module.hpp"

using namespace standin;

namespace {

constexpr int kMostShared = 227 << 10;

/// The bytes of all parameters, in the layout of the function; false if they are not given properly.
bool gather_parameters(const ptx::Code& code, void** pointers, void** extra,
                       std::vector<std::uint8_t>& bytes) {
  bytes.resize(code.parameter_bytes);
  if (extra != nullptr) {
    const void* buffer = nullptr;
    std::size_t size = 0;
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
      if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = extra[1];
      if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE) size = *static_cast<const std::size_t*>(extra[1]);
    }
    if (pointers != nullptr || buffer == nullptr || size < bytes.size()) return false;
    std::memcpy(bytes.data(), buffer, bytes.size());
    return true;
  }
  if (pointers == nullptr) return code.parameters.empty();
  for (std::size_t n = 0; n < code.parameters.size(); ++n)
    std::memcpy(bytes.data() + code.parameters[n].offset, pointers[n], code.parameters[n].size_bytes);
  return true;
}

bool within(const ptx::Dim& dim, std::uint32_t x, std::uint32_t y, std::uint32_t z) {
  return dim.x >= 1 && dim.y >= 1 && dim.z >= 1 && dim.x <= x && dim.y <= y && dim.z <= z;
}

CUresult check_shape(const Function& function, const ptx::Launch& launch) {
  if (!within(launch.grid, 2147483647, 65535, 65535) || !within(launch.block, 1024, 1024, 64))
    return CUDA_ERROR_INVALID_VALUE;
  const std::uint64_t threads = std::uint64_t{launch.block.x} * launch.block.y * launch.block.z;
  if (threads > function.code->most_threads) return CUDA_ERROR_INVALID_VALUE;
  const auto most_dynamic = static_cast<std::size_t>(function.most_dynamic_shared_bytes);
  if (launch.dynamic_shared_bytes > most_dynamic ||
      function.code->shared_bytes + launch.dynamic_shared_bytes >
          std::max<std::size_t>(most_dynamic, 48 << 10))
    return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

/// The task of a launch. It keeps the module: a kernel may run after its module was given back by mistake.
CUresult run(Context& context, const std::shared_ptr<Module>& module, const ptx::Launch& launch,
             std::uint64_t number) {
  (void)module;
  const auto& losses = state().settings.losses;
  if (const auto loss = losses.find(context.device); loss != losses.end() && loss->second == number)
    return CUDA_ERROR_LAUNCH_FAILED;
  std::uint64_t instructions = 0;
  const auto result = static_cast<CUresult>(ptx::execute(launch, instructions));
  std::lock_guard lock(state().mutex);
  state().counts["instructions"] += instructions;
  return result;
}

CUresult launch(const void* handle, ptx::Launch made, CUstream stream_handle, void** pointers, void** extra) {
  if (handle == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const auto stream = stream_of(stream_handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  Context& context = stream->context();
  if (context.lost() != CUDA_SUCCESS) return context.lost();
  CUresult error = CUDA_SUCCESS;
  const auto function = resolve(handle, context, error);
  if (function == nullptr) return error;
  if (const CUresult wrong = check_shape(*function, made); wrong != CUDA_SUCCESS) return wrong;
  made.code = function->code;
  if (!gather_parameters(*function->code, pointers, extra, made.parameters)) return CUDA_ERROR_INVALID_VALUE;
  made.look = [device = context.device] { return state().memory.reach(device); };
  state().count("launches");
  const std::uint64_t number = ++context.launches;
  context.submit(*stream, [&context, module = function->module.lock(), made = std::move(made), number] {
    return run(context, module, made, number);
  });
  return CUDA_SUCCESS;
}

int attribute_of(const Function& function, CUfunction_attribute attribute) {
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return static_cast<int>(function.code->most_threads);
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      return static_cast<int>(function.code->shared_bytes);
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      return static_cast<int>(function.code->local_bytes);
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      return static_cast<int>(std::min(function.code->slots, 255u));
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
      return 75;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      return state().settings.capability;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      return function.most_dynamic_shared_bytes;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      return -1;
    default:
      return 0;
  }
}

}  // namespace

STANDIN_API cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction handle) {
  STANDIN_ENTER(kContext);
  if (value == nullptr || attribute < 0 || attribute >= CU_FUNC_ATTRIBUTE_MAX)
    return CUDA_ERROR_INVALID_VALUE;
  CUresult error = CUDA_SUCCESS;
  const auto function = resolve(handle, *current_context(), error);
  if (function == nullptr) return error;
  *value = attribute_of(*function, attribute);
  return CUDA_SUCCESS;
}

STANDIN_API cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute, int value) {
  STANDIN_ENTER(kContext);
  CUresult error = CUDA_SUCCESS;
  const auto function = resolve(handle, *current_context(), error);
  if (function == nullptr) return error;
  if (attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)
    return value >= -1 && value <= 100 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) return CUDA_ERROR_INVALID_VALUE;
  if (value < 0 || value > kMostShared - static_cast<int>(function->code->shared_bytes))
    return CUDA_ERROR_INVALID_VALUE;
  function->most_dynamic_shared_bytes = value;
  return CUDA_SUCCESS;
}

STANDIN_API cuFuncSetCacheConfig(CUfunction, CUfunc_cache) {
  STANDIN_ENTER(kContext);
  return CUDA_SUCCESS;
}

STANDIN_API cuFuncGetName(const char** name, CUfunction handle) {
  STANDIN_ENTER(kContext);
  CUresult error = CUDA_SUCCESS;
  const auto function = resolve(handle, *current_context(), error);
  if (function == nullptr) return error;
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *name = function->name.c_str();
  return CUDA_SUCCESS;
}

STANDIN_API cuFuncGetModule(CUmodule* module, CUfunction handle) {
  STANDIN_ENTER(kContext);
  CUresult error = CUDA_SUCCESS;
  const auto function = resolve(handle, *current_context(), error);
  if (function == nullptr) return error;
  *module = reinterpret_cast<CUmodule>(function->module.lock().get());
  return CUDA_SUCCESS;
}

STANDIN_API cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                           unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                           CUstream stream, void** parameters, void** extra) {
  STANDIN_ENTER(kContext);
  ptx::Launch made;
  made.grid = {grid_x, grid_y, grid_z};
  made.block = {block_x, block_y, block_z};
  made.dynamic_shared_bytes = shared_bytes;
  return launch(function, std::move(made), stream, parameters, extra);
}

STANDIN_API cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** parameters,
                             void** extra) {
  STANDIN_ENTER(kContext);
  if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned n = 0; n < config->numAttrs; ++n) {
    const auto& attribute = config->attrs[n];
    // Blocks run one after the other, so those that wait for each other cannot be run.
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE && attribute.value.cooperative != 0)
      return CUDA_ERROR_NOT_SUPPORTED;
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) return CUDA_ERROR_NOT_SUPPORTED;
  }
  ptx::Launch made;
  made.grid = {config->gridDimX, config->gridDimY, config->gridDimZ};
  made.block = {config->blockDimX, config->blockDimY, config->blockDimZ};
  made.dynamic_shared_bytes = config->sharedMemBytes;
  return launch(function, std::move(made), config->hStream, parameters, extra);
}

STANDIN_API cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction handle, int block_size,
                                                        size_t dynamic_shared_bytes) {
  STANDIN_ENTER(kContext);
  if (blocks == nullptr || block_size <= 0) return CUDA_ERROR_INVALID_VALUE;
  CUresult error = CUDA_SUCCESS;
  const auto function = resolve(handle, *current_context(), error);
  if (function == nullptr) return error;
  const std::size_t shared = function->code->shared_bytes + dynamic_shared_bytes + 1024;
  *blocks =
      block_size > 1024 ? 0 : std::min({2048 / block_size, 32, static_cast<int>((228u << 10) / shared)});
  return CUDA_SUCCESS;
}

STANDIN_API cuOccupancyMaxPotentialBlockSize(int* least_grid, int* block_size, CUfunction handle,
                                             CUoccupancyB2DSize, size_t, int limit) {
  STANDIN_ENTER(kContext);
  if (least_grid == nullptr || block_size == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CUresult error = CUDA_SUCCESS;
  const auto function = resolve(handle, *current_context(), error);
  if (function == nullptr) return error;
  const int most = static_cast<int>(function->code->most_threads);
  *block_size = limit > 0 ? std::min(limit, most) : most;
  *least_grid = 132 * (2048 / *block_size);
  return CUDA_SUCCESS;
}
