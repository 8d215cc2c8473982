// The few functions of the CUDA runtime that nvcc's host code needs, over whatever driver is there: the one that
// NUNA_CUDA_DRIVER names, or libcuda.so.1. Linked instead of libcudart, so that kernels of a program are the same on
// the stand-in and on a card. Modules are loaded when a context first needs them.

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace {

template <class Function>
Function* driver_function(const char* name) {
  static void* const library = [] {
    const char* path = std::getenv("NUNA_CUDA_DRIVER");
    void* opened = dlopen(path != nullptr && *path != '\0' ? path : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (opened == nullptr) std::fprintf(stderr, "cuda runtime shim: %s\n", dlerror());
    return opened;
  }();
  auto* found = library == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(library, name));
  if (library != nullptr && found == nullptr)
    std::fprintf(stderr, "cuda runtime shim: the driver has no %s\n", name);
  return found;
}

/// DRIVER(cuInit)(0): the function by its exported name, or an error if there is no driver.
#define STANDIN_TEXT(name) #name
#define DRIVER(name)                                                                      \
  [](auto... with) {                                                                      \
    static auto* const entry_point = driver_function<decltype(name)>(STANDIN_TEXT(name)); \
    return entry_point == nullptr ? CUDA_ERROR_STUB_LIBRARY : entry_point(with...);       \
  }

/// What nvcc embeds for one source file.
struct Binary {
  const void* image = nullptr;
  std::map<CUcontext, CUmodule> modules;
};
struct Symbol {
  Binary* binary = nullptr;
  std::string name;
  std::size_t size_bytes = 0;
};

// Registered by constructors of other files, so made when first used; never destroyed, for the same reason.
struct Registry {
  std::mutex mutex;
  std::map<const void*, Symbol> symbols;  // kernels by their host function, variables by their host variable
};
Registry& registry() {
  static auto* const the_registry = new Registry;
  return *the_registry;
}

thread_local int current_device = 0;
thread_local cudaError_t last_error = cudaSuccess;

struct Configuration {
  dim3 grid, block;
  std::size_t shared_bytes = 0;
  cudaStream_t stream = nullptr;
};
thread_local std::vector<Configuration> configurations;

/// The driver's numbers are the runtime's.
cudaError_t told(CUresult result) {
  const auto error = static_cast<cudaError_t>(result);
  if (error != cudaSuccess && error != cudaErrorNotReady) last_error = error;
  return error;
}

/// The thread's context: the program's, or else the primary one of its device.
CUresult context(CUcontext& current) {
  static const CUresult started = DRIVER(cuInit)(0u);
  if (started != CUDA_SUCCESS) return started;
  if (const CUresult error = DRIVER(cuCtxGetCurrent)(&current); error != CUDA_SUCCESS || current != nullptr)
    return error;
  static std::mutex mutex;
  static std::map<int, CUcontext> primaries;
  std::lock_guard lock(mutex);
  auto& primary = primaries[current_device];
  if (primary == nullptr)
    if (const CUresult error = DRIVER(cuDevicePrimaryCtxRetain)(&primary, current_device);
        error != CUDA_SUCCESS)
      return error;
  current = primary;
  return DRIVER(cuCtxSetCurrent)(primary);
}

CUresult ready() {
  CUcontext current = nullptr;
  return context(current);
}

/// Runs `use` with the module of a symbol in the current context.
template <class Use>
CUresult with_module(const void* key, const Use& use) {
  CUcontext current = nullptr;
  if (const CUresult error = context(current); error != CUDA_SUCCESS) return error;
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  const auto symbol = all.symbols.find(key);
  if (symbol == all.symbols.end()) return CUDA_ERROR_INVALID_SOURCE;
  auto& module = symbol->second.binary->modules[current];
  // A context may have been destroyed, and its module with it.
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (module == nullptr)
      if (const CUresult error = DRIVER(cuModuleLoadData)(&module, symbol->second.binary->image);
          error != CUDA_SUCCESS)
        return error;
    const CUresult error = use(module, symbol->second);
    if (error != CUDA_ERROR_INVALID_HANDLE) return error;
    module = nullptr;
  }
  return CUDA_ERROR_INVALID_HANDLE;
}

CUresult function_of(const void* key, CUfunction& function) {
  return with_module(key, [&](CUmodule module, const Symbol& symbol) {
    return DRIVER(cuModuleGetFunction)(&function, module, symbol.name.c_str());
  });
}

CUresult variable_of(const void* key, CUdeviceptr& address, std::size_t& size_bytes) {
  return with_module(key, [&](CUmodule module, const Symbol& symbol) {
    return DRIVER(cuModuleGetGlobal_v2)(&address, &size_bytes, module, symbol.name.c_str());
  });
}

CUresult launch(const void* key, dim3 grid, dim3 block, void** arguments, std::size_t shared_bytes,
                CUstream stream) {
  CUfunction function = nullptr;
  if (const CUresult error = function_of(key, function); error != CUDA_SUCCESS) return error;
  return DRIVER(cuLaunchKernel)(function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                static_cast<unsigned>(shared_bytes), stream, arguments,
                                static_cast<void**>(nullptr));
}

CUdeviceptr number(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

/// Runs a driver function with the thread's context.
template <class Do>
cudaError_t in_context(const Do& act) {
  const CUresult error = ready();
  return told(error == CUDA_SUCCESS ? act() : error);
}

}  // namespace

extern "C" {

// What nvcc's host code calls.

void** __cudaRegisterFatBinary(void* image);
void** __cudaRegisterFatBinary(void* image) {
  auto* binary = new Binary;
  binary->image = image;
  return reinterpret_cast<void**>(binary);
}

void __cudaRegisterFatBinaryEnd(void**);
void __cudaRegisterFatBinaryEnd(void**) {}

void __cudaUnregisterFatBinary(void**);
void __cudaUnregisterFatBinary(void**) {}

char __cudaInitModule(void**);
char __cudaInitModule(void**) { return 1; }

void __cudaRegisterFunction(void** binary, const char* host, char*, const char* name, int, uint3*, uint3*,
                            dim3*, dim3*, int*);
void __cudaRegisterFunction(void** binary, const char* host, char*, const char* name, int, uint3*, uint3*,
                            dim3*, dim3*, int*) {
  std::lock_guard lock(registry().mutex);
  registry().symbols[host] = {reinterpret_cast<Binary*>(binary), name, 0};
}

void __cudaRegisterVar(void** binary, char* host, char*, const char* name, int, size_t size_bytes, int, int);
void __cudaRegisterVar(void** binary, char* host, char*, const char* name, int, size_t size_bytes, int, int) {
  std::lock_guard lock(registry().mutex);
  registry().symbols[host] = {reinterpret_cast<Binary*>(binary), name, size_bytes};
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, CUstream_st* stream);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, CUstream_st* stream) {
  configurations.push_back({grid, block, shared_bytes, stream});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared_bytes, void* stream);
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared_bytes, void* stream) {
  if (configurations.empty()) return told(CUDA_ERROR_INVALID_VALUE);
  const Configuration last = configurations.back();
  configurations.pop_back();
  *grid = last.grid;
  *block = last.block;
  *shared_bytes = last.shared_bytes;
  *static_cast<cudaStream_t*>(stream) = last.stream;
  return cudaSuccess;
}

// A kernel's handle is the address of its host function: what it is in a context is found at the launch.
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host);
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host) {
  *kernel = static_cast<cudaKernel_t>(const_cast<void*>(host));
  return cudaSuccess;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               size_t shared_bytes, cudaStream_t stream);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               size_t shared_bytes, cudaStream_t stream) {
  return told(launch(kernel, grid, block, arguments, shared_bytes, stream));
}

// Kernels and symbols.

cudaError_t cudaLaunchKernel(const void* host, dim3 grid, dim3 block, void** arguments, size_t shared_bytes,
                             cudaStream_t stream) {
  return told(launch(host, grid, block, arguments, shared_bytes, stream));
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* host, void** arguments) {
  CUfunction function = nullptr;
  if (const CUresult error = function_of(host, function); error != CUDA_SUCCESS) return told(error);
  CUlaunchConfig made{};
  made.gridDimX = config->gridDim.x, made.gridDimY = config->gridDim.y, made.gridDimZ = config->gridDim.z;
  made.blockDimX = config->blockDim.x, made.blockDimY = config->blockDim.y,
  made.blockDimZ = config->blockDim.z;
  made.sharedMemBytes = static_cast<unsigned>(config->dynamicSmemBytes);
  made.hStream = config->stream;
  made.attrs = reinterpret_cast<CUlaunchAttribute*>(config->attrs);  // the same structure under two names
  made.numAttrs = config->numAttrs;
  return told(DRIVER(cuLaunchKernelEx)(&made, function, arguments, static_cast<void**>(nullptr)));
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t* function, const void* host) {
  CUfunction found = nullptr;
  const cudaError_t error = told(function_of(host, found));
  *function = found;
  return error;
}

cudaError_t cudaFuncSetAttribute(const void* host, cudaFuncAttribute attribute, int value) {
  CUfunction function = nullptr;
  if (const CUresult error = function_of(host, function); error != CUDA_SUCCESS) return told(error);
  return told(DRIVER(cuFuncSetAttribute)(function, static_cast<CUfunction_attribute>(attribute), value));
}

cudaError_t cudaGetSymbolAddress(void** address, const void* host) {
  CUdeviceptr found = 0;
  std::size_t size_bytes = 0;
  const cudaError_t error = told(variable_of(host, found, size_bytes));
  *address = reinterpret_cast<void*>(found);
  return error;
}

cudaError_t cudaMemcpyToSymbol(const void* host, const void* from, size_t size_bytes, size_t offset,
                               cudaMemcpyKind) {
  CUdeviceptr found = 0;
  std::size_t most = 0;
  if (const CUresult error = variable_of(host, found, most); error != CUDA_SUCCESS) return told(error);
  return told(DRIVER(cuMemcpy)(found + offset, number(from), size_bytes));
}

cudaError_t cudaMemcpyFromSymbol(void* to, const void* host, size_t size_bytes, size_t offset,
                                 cudaMemcpyKind) {
  CUdeviceptr found = 0;
  std::size_t most = 0;
  if (const CUresult error = variable_of(host, found, most); error != CUDA_SUCCESS) return told(error);
  return told(DRIVER(cuMemcpy)(number(to), found + offset, size_bytes));
}

// Errors.

cudaError_t cudaGetLastError() { return std::exchange(last_error, cudaSuccess); }
cudaError_t cudaPeekAtLastError() { return last_error; }

const char* cudaGetErrorName(cudaError_t error) {
  const char* text = nullptr;
  return DRIVER(cuGetErrorName)(static_cast<CUresult>(error), &text) == CUDA_SUCCESS
             ? text
             : "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
  const char* text = nullptr;
  return DRIVER(cuGetErrorString)(static_cast<CUresult>(error), &text) == CUDA_SUCCESS
             ? text
             : "unrecognized error code";
}

// Devices.

cudaError_t cudaGetDeviceCount(int* count) {
  if (const CUresult error = ready(); error != CUDA_SUCCESS) return told(error);
  return told(DRIVER(cuDeviceGetCount)(count));
}

cudaError_t cudaGetDevice(int* device) {
  return in_context([&] { return DRIVER(cuCtxGetDevice)(device); });
}

cudaError_t cudaSetDevice(int device) {
  if (const CUresult error = ready(); error != CUDA_SUCCESS) return told(error);
  int count = 0;
  if (const CUresult error = DRIVER(cuDeviceGetCount)(&count); error != CUDA_SUCCESS) return told(error);
  if (device < 0 || device >= count) return told(CUDA_ERROR_INVALID_DEVICE);
  current_device = device;
  DRIVER(cuCtxSetCurrent)(static_cast<CUcontext>(nullptr));
  return told(ready());
}

cudaError_t cudaDeviceSynchronize() {
  return in_context([] { return DRIVER(cuCtxSynchronize)(); });
}

// Memory.

cudaError_t cudaMalloc(void** address, size_t size_bytes) {
  CUdeviceptr made = 0;
  const cudaError_t error = in_context([&] { return DRIVER(cuMemAlloc_v2)(&made, size_bytes); });
  *address = reinterpret_cast<void*>(made);
  return error;
}

cudaError_t cudaFree(void* address) {
  return in_context([&] { return DRIVER(cuMemFree_v2)(number(address)); });
}

cudaError_t cudaMallocHost(void** address, size_t size_bytes) {
  return in_context([&] { return DRIVER(cuMemHostAlloc)(address, size_bytes, 0u); });
}

cudaError_t cudaFreeHost(void* address) {
  return in_context([&] { return DRIVER(cuMemFreeHost)(address); });
}

cudaError_t cudaMemcpy(void* to, const void* from, size_t size_bytes, cudaMemcpyKind) {
  return in_context([&] { return DRIVER(cuMemcpy)(number(to), number(from), size_bytes); });
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t size_bytes, cudaMemcpyKind,
                            cudaStream_t stream) {
  return in_context([&] { return DRIVER(cuMemcpyAsync)(number(to), number(from), size_bytes, stream); });
}

cudaError_t cudaMemset(void* address, int value, size_t size_bytes) {
  return in_context(
      [&] { return DRIVER(cuMemsetD8_v2)(number(address), static_cast<unsigned char>(value), size_bytes); });
}

// Streams.

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return in_context([&] { return DRIVER(cuStreamCreate)(stream, 0u); });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return in_context([&] { return DRIVER(cuStreamCreate)(stream, flags); });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return in_context([&] { return DRIVER(cuStreamDestroy_v2)(stream); });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return in_context([&] { return DRIVER(cuStreamSynchronize)(stream); });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return in_context([&] { return DRIVER(cuStreamWaitEvent)(stream, event, flags); });
}

// Events.

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return in_context([&] { return DRIVER(cuEventCreate)(event, 0u); });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return in_context([&] { return DRIVER(cuEventRecord)(event, stream); });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return in_context([&] { return DRIVER(cuEventSynchronize)(event); });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return in_context([&] { return DRIVER(cuEventDestroy_v2)(event); });
}

}  // extern "C"
