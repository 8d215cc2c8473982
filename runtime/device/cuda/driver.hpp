#pragma once
// The CUDA driver: loaded when it is first asked for, never linked, so that one program runs with and without one.
//
//   const Driver& cuda = *Driver::of_process().driver;                  // null where none is; why_not says why
//   cuda.check(cuda.cuMemAlloc(&p, n), "cuMemAlloc", "16 MiB on cuda:0");
//
// The library is libcuda.so.1 or what NUNA_CUDA_DRIVER names; its functions come from cuGetProcAddress, each in its
// version of CUDA 12. Needs a driver for CUDA 12 or newer.
//
// Threads: any; loaded once, never unloaded. Failure: check() throws nuna::Error that names the call, what it was about, and
// the driver's error (device_lost when the context is broken and nothing on it can be used any more).

#include <cuda.h>

#include <string>
#include <string_view>

#include "nuna/error.hpp"

// Every function that Nuna calls.
#define NUNA_CUDA_CALLS(X)         \
  X(cuInit)                        \
  X(cuDriverGetVersion)            \
  X(cuGetErrorName)                \
  X(cuDeviceGetCount)              \
  X(cuDeviceGet)                   \
  X(cuDeviceGetName)               \
  X(cuDeviceGetUuid)               \
  X(cuDeviceGetAttribute)          \
  X(cuDeviceTotalMem)              \
  X(cuDeviceCanAccessPeer)         \
  X(cuDevicePrimaryCtxRetain)      \
  X(cuCtxPushCurrent)              \
  X(cuCtxPopCurrent)               \
  X(cuCtxEnablePeerAccess)         \
  X(cuCtxGetStreamPriorityRange)   \
  X(cuMemGetInfo)                  \
  X(cuMemAlloc)                    \
  X(cuMemFree)                     \
  X(cuMemAddressReserve)           \
  X(cuMemAddressFree)              \
  X(cuMemCreate)                   \
  X(cuMemRelease)                  \
  X(cuMemMap)                      \
  X(cuMemUnmap)                    \
  X(cuMemSetAccess)                \
  X(cuMemGetAllocationGranularity) \
  X(cuMemHostRegister)             \
  X(cuMemHostUnregister)           \
  X(cuMemHostAlloc)                \
  X(cuMemFreeHost)                 \
  X(cuPointerGetAttribute)         \
  X(cuStreamCreateWithPriority)    \
  X(cuStreamDestroy)               \
  X(cuStreamSynchronize)           \
  X(cuStreamWaitEvent)             \
  X(cuEventCreate)                 \
  X(cuEventRecord)                 \
  X(cuEventQuery)                  \
  X(cuEventDestroy)                \
  X(cuMemcpyAsync)                 \
  X(cuMemcpy3DAsync)               \
  X(cuMemsetD8Async)               \
  X(cuMemsetD2D8Async)             \
  X(cuModuleLoadData)              \
  X(cuModuleLoadDataEx)            \
  X(cuModuleUnload)                \
  X(cuModuleGetFunction)           \
  X(cuModuleGetGlobal)             \
  X(cuFuncSetAttribute)            \
  X(cuLaunchKernel)

namespace nuna::device::cuda {

struct Driver {
#define NUNA_CUDA_DECLARE(name) decltype(&::name) name = nullptr;
  NUNA_CUDA_CALLS(NUNA_CUDA_DECLARE)
#undef NUNA_CUDA_DECLARE

  struct Loaded {
    const Driver* driver = nullptr;
    std::string why_not;  ///< one half-sentence, if there is none
  };
  /// The first call loads and initialises it.
  static const Loaded& of_process();

  /// "CUDA_ERROR_OUT_OF_MEMORY".
  std::string name_of(CUresult error) const;
  /// The Error that a call's result stands for: "cuMemAlloc (16 MiB on cuda:0) failed: CUDA_ERROR_OUT_OF_MEMORY: ...".
  Error failure(CUresult error, std::string_view call, std::string_view about) const;
  void check(CUresult result, std::string_view call, std::string_view about) const {
    if (result != CUDA_SUCCESS) [[unlikely]]
      throw failure(result, call, about);
  }
};

/// Whether an error means that the context is broken: everything on its device is lost.
bool breaks_context(CUresult error);

}  // namespace nuna::device::cuda
