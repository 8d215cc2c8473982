// Launches and functions.

#include <algorithm>
#include <vector>

#include "alias.hpp"
#include "call.hpp"
#include "device.hpp"
#include "launch.hpp"
#include "limits.hpp"
#include "occupancy.hpp"
#include "stream.hpp"

using namespace nuna::cudart;

namespace nuna::cudart {

std::shared_ptr<const KernelAction> kernel_action(const void* function, dim3 grid, dim3 block,
                                                  void** arguments, std::size_t dynamic_shared_bytes) {
  Function& found = Images::of_process().function(function);
  if (const Spread* spread = Device::get().spread(); spread != nullptr && spread->on_gpus())
    require_ptx(found);
  const LaunchShape shape{{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, dynamic_shared_bytes};
  check_launch(found, shape);
  return std::make_shared<KernelAction>(found, function, shape, arguments);
}

std::shared_ptr<const KernelAction> kernel_action(const cudaKernelNodeParams& params) {
  require(params.extra == nullptr, cudaErrorNotSupported);
  return kernel_action(params.func, params.gridDim, params.blockDim, params.kernelParams,
                       params.sharedMemBytes);
}

cudaKernelNodeParams parameters_of(const KernelAction& action) {
  const LaunchShape& shape = action.shape();
  cudaKernelNodeParams params{};
  params.func = const_cast<void*>(action.host());
  params.gridDim = dim3(shape.grid[0], shape.grid[1], shape.grid[2]);
  params.blockDim = dim3(shape.block[0], shape.block[1], shape.block[2]);
  params.sharedMemBytes = static_cast<unsigned int>(shape.dynamic_shared_bytes);
  params.kernelParams = const_cast<void**>(action.arguments());
  return params;
}

}  // namespace nuna::cudart

namespace {

struct Configuration {
  dim3 grid;
  dim3 block;
  size_t shared;
  cudaStream_t stream;
};
thread_local std::vector<Configuration> configurations;

cudaError_t launch(const void* func, dim3 grid, dim3 block, void** args, size_t shared, cudaStream_t stream) {
  return device_call([&] {
    auto action = kernel_action(func, grid, block, args, shared);
    stream_of(stream)->submit(cudaGraphNodeTypeKernel, std::move(action));
  });
}

cudaError_t launch_cooperative(const void* func, dim3 grid, dim3 block, void** args, size_t shared,
                               cudaStream_t stream) {
  return device_call([&] {
    Function& function = Images::of_process().function(func);
    LaunchShape shape{{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared, true};
    check_launch(function, shape);
    const auto resident = static_cast<std::uint64_t>(blocks_per_multiprocessor(
                              function, static_cast<int>(block.x * block.y * block.z), shared)) *
                          static_cast<std::uint64_t>(DeviceFacts::here().threads);
    require(std::uint64_t{grid.x} * grid.y * grid.z <= resident, cudaErrorCooperativeLaunchTooLarge);
    stream_of(stream)->submit(cudaGraphNodeTypeKernel,
                              std::make_shared<KernelAction>(function, func, shape, args));
  });
}

bool asks_for_cooperation(const cudaLaunchConfig_t& config) {
  return std::any_of(config.attrs, config.attrs + config.numAttrs, [](const cudaLaunchAttribute& attribute) {
    return attribute.id == cudaLaunchAttributeCooperative && attribute.val.cooperative != 0;
  });
}

bool asks_for_clusters(const cudaLaunchConfig_t& config) {
  return std::any_of(config.attrs, config.attrs + config.numAttrs, [](const cudaLaunchAttribute& attribute) {
    const auto& dim = attribute.val.clusterDim;
    return attribute.id == cudaLaunchAttributeClusterDimension && (dim.x > 1 || dim.y > 1 || dim.z > 1);
  });
}

}  // namespace

extern "C" {

cudaError_t cudaLaunchKernel(const void* func, dim3 gridDim, dim3 blockDim, void** args, size_t sharedMem,
                             cudaStream_t stream) {
  return launch(func, gridDim, blockDim, args, sharedMem, stream);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* func, void** args) {
  if (config == nullptr) return remember(cudaErrorInvalidValue);
  if (config->numAttrs > 0 && config->attrs == nullptr) return remember(cudaErrorInvalidValue);
  if (asks_for_clusters(*config)) return refuse_function("cudaLaunchKernelExC with clusters of blocks");
  const auto with = asks_for_cooperation(*config) ? launch_cooperative : launch;
  return with(func, config->gridDim, config->blockDim, args, config->dynamicSmemBytes, config->stream);
}

cudaError_t cudaLaunchCooperativeKernel(const void* func, dim3 gridDim, dim3 blockDim, void** args,
                                        size_t sharedMem, cudaStream_t stream) {
  return launch_cooperative(func, gridDim, blockDim, args, sharedMem, stream);
}

cudaError_t cudaLaunchCooperativeKernelMultiDevice(cudaLaunchParams* launchParamsList,
                                                   unsigned int numDevices, unsigned int) {
  if (launchParamsList == nullptr || numDevices != 1) return remember(cudaErrorInvalidValue);
  const cudaLaunchParams& only = *launchParamsList;
  return launch_cooperative(only.func, only.gridDim, only.blockDim, only.args, only.sharedMem, only.stream);
}

unsigned int __cudaPushCallConfiguration(dim3 gridDim, dim3 blockDim, size_t sharedMem, cudaStream_t stream) {
  configurations.push_back({gridDim, blockDim, sharedMem, stream});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* gridDim, dim3* blockDim, size_t* sharedMem, void* stream) {
  if (configurations.empty()) return remember(cudaErrorMissingConfiguration);
  const Configuration& top = configurations.back();
  *gridDim = top.grid;
  *blockDim = top.block;
  *sharedMem = top.shared;
  *static_cast<cudaStream_t*>(stream) = top.stream;
  configurations.pop_back();
  return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attr, const void* func) {
  return device_call([&] {
    require(attr != nullptr, cudaErrorInvalidValue);
    const Function& function = Images::of_process().function(func);
    *attr = {};
    attr->sharedSizeBytes = function.kernel->static_shared_bytes;
    attr->localSizeBytes = function.kernel->thread_scratch_bytes;
    attr->maxThreadsPerBlock = static_cast<int>(function.kernel->max_threads_per_block);
    attr->numRegs = 32;
    attr->ptxVersion = limits::kMajor * 10 + limits::kMinor;
    attr->binaryVersion = limits::kMajor * 10 + limits::kMinor;
    const auto limit = function.dynamic_shared_limit.load();
    const std::size_t fixed =
        std::min<std::size_t>(limits::kSharedBytes, function.kernel->static_shared_bytes);
    attr->maxDynamicSharedSizeBytes =
        static_cast<int>(std::max<std::size_t>(limit, limits::kSharedBytes - fixed));
    attr->preferredShmemCarveout = cudaSharedmemCarveoutDefault;
  });
}

cudaError_t cudaFuncSetAttribute(const void* func, enum cudaFuncAttribute attr, int value) {
  return device_call([&] {
    Function& function = Images::of_process().function(func);
    if (attr == cudaFuncAttributeMaxDynamicSharedMemorySize) {
      const std::size_t most =
          limits::kMostSharedBytes -
          std::min<std::size_t>(limits::kMostSharedBytes, function.kernel->static_shared_bytes);
      require(value >= 0 && static_cast<std::size_t>(value) <= most, cudaErrorInvalidValue);
      function.dynamic_shared_limit = static_cast<std::uint64_t>(value);
      return;
    }
    require(attr == cudaFuncAttributePreferredSharedMemoryCarveout ||
                (attr >= cudaFuncAttributeClusterDimMustBeSet && attr < cudaFuncAttributeMax),
            cudaErrorInvalidValue);
  });
}

cudaError_t cudaFuncSetCacheConfig(const void* func, enum cudaFuncCache) {
  return device_call([&] { Images::of_process().function(func); });
}
cudaError_t cudaFuncSetSharedMemConfig(const void* func, enum cudaSharedMemConfig) {
  return device_call([&] { Images::of_process().function(func); });
}
cudaError_t cudaFuncGetName(const char** name, const void* func) {
  return device_call([&] {
    require(name != nullptr, cudaErrorInvalidValue);
    *name = Images::of_process().function(func).kernel->name;
  });
}
cudaError_t cudaGetFuncBySymbol(cudaFunction_t* function, const void* symbol) {
  return device_call([&] {
    require(function != nullptr, cudaErrorInvalidValue);
    Images::of_process().function(symbol);
    *function = reinterpret_cast<cudaFunction_t>(const_cast<void*>(symbol));
  });
}
cudaError_t cudaSetDoubleForDevice(double*) { return cudaSuccess; }
cudaError_t cudaSetDoubleForHost(double*) { return cudaSuccess; }

NUNA_PER_THREAD(cudaLaunchKernel);
NUNA_PER_THREAD(cudaLaunchKernelExC);
NUNA_PER_THREAD(cudaLaunchCooperativeKernel);
}
