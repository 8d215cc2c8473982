// cuGetProcAddress: functions by their name without version, the newest that the caller's version knows.

#include <cstring>

#include "state.hpp"

#undef cuDeviceGetUuid
#undef cuEventElapsedTime
#undef cuGetProcAddress

// Of functions with several versions, cuda.h declares the newest.
STANDIN_API cuDeviceGetUuid(CUuuid* uuid, CUdevice device);
STANDIN_API cuEventElapsedTime(float* milliseconds, CUevent begin, CUevent end);
STANDIN_API cuGetProcAddress(const char* name, void** function, int version, cuuint64_t flags);
STANDIN_API cuGetProcAddress_v2(const char* name, void** function, int version, cuuint64_t flags,
                                CUdriverProcAddressQueryResult* status);

namespace {

struct Known {
  const char* name;
  int since;  // the version of CUDA that brought it
  void* function;
};

template <class Function>
void* address(Function* function) {
  return reinterpret_cast<void*>(function);
}

const Known kKnown[] = {
    {"cuCtxDisablePeerAccess", 4000, address(&cuCtxDisablePeerAccess)},
    {"cuCtxEnablePeerAccess", 4000, address(&cuCtxEnablePeerAccess)},
    {"cuCtxGetApiVersion", 3020, address(&cuCtxGetApiVersion)},
    {"cuCtxGetCurrent", 4000, address(&cuCtxGetCurrent)},
    {"cuCtxGetDevice", 2000, address(&cuCtxGetDevice)},
    {"cuCtxGetStreamPriorityRange", 5050, address(&cuCtxGetStreamPriorityRange)},
    {"cuCtxPopCurrent", 4000, address(&cuCtxPopCurrent_v2)},
    {"cuCtxPushCurrent", 4000, address(&cuCtxPushCurrent_v2)},
    {"cuCtxSetCurrent", 4000, address(&cuCtxSetCurrent)},
    {"cuCtxSynchronize", 2000, address(&cuCtxSynchronize)},
    {"cuDeviceCanAccessPeer", 4000, address(&cuDeviceCanAccessPeer)},
    {"cuDeviceGet", 2000, address(&cuDeviceGet)},
    {"cuDeviceGetAttribute", 2000, address(&cuDeviceGetAttribute)},
    {"cuDeviceGetCount", 2000, address(&cuDeviceGetCount)},
    {"cuDeviceGetName", 2000, address(&cuDeviceGetName)},
    {"cuDeviceGetP2PAttribute", 8000, address(&cuDeviceGetP2PAttribute)},
    {"cuDeviceGetPCIBusId", 4010, address(&cuDeviceGetPCIBusId)},
    {"cuDeviceGetUuid", 9020, address(&cuDeviceGetUuid)},
    {"cuDeviceGetUuid", 11040, address(&cuDeviceGetUuid_v2)},
    {"cuDevicePrimaryCtxGetState", 7000, address(&cuDevicePrimaryCtxGetState)},
    {"cuDevicePrimaryCtxRelease", 11000, address(&cuDevicePrimaryCtxRelease_v2)},
    {"cuDevicePrimaryCtxRetain", 7000, address(&cuDevicePrimaryCtxRetain)},
    {"cuDevicePrimaryCtxSetFlags", 11000, address(&cuDevicePrimaryCtxSetFlags_v2)},
    {"cuDeviceTotalMem", 3020, address(&cuDeviceTotalMem_v2)},
    {"cuDriverGetVersion", 2020, address(&cuDriverGetVersion)},
    {"cuEventCreate", 2000, address(&cuEventCreate)},
    {"cuEventDestroy", 4000, address(&cuEventDestroy_v2)},
    {"cuEventElapsedTime", 2000, address(&cuEventElapsedTime)},
    {"cuEventElapsedTime", 12080, address(&cuEventElapsedTime_v2)},
    {"cuEventQuery", 2000, address(&cuEventQuery)},
    {"cuEventRecord", 2000, address(&cuEventRecord)},
    {"cuEventRecordWithFlags", 11010, address(&cuEventRecordWithFlags)},
    {"cuEventSynchronize", 2000, address(&cuEventSynchronize)},
    {"cuFuncGetAttribute", 2020, address(&cuFuncGetAttribute)},
    {"cuFuncGetModule", 11000, address(&cuFuncGetModule)},
    {"cuFuncGetName", 12030, address(&cuFuncGetName)},
    {"cuFuncSetAttribute", 9000, address(&cuFuncSetAttribute)},
    {"cuFuncSetCacheConfig", 3000, address(&cuFuncSetCacheConfig)},
    {"cuGetErrorName", 6000, address(&cuGetErrorName)},
    {"cuGetErrorString", 6000, address(&cuGetErrorString)},
    {"cuGetProcAddress", 11030, address(&cuGetProcAddress)},
    {"cuGetProcAddress", 12000, address(&cuGetProcAddress_v2)},
    {"cuInit", 2000, address(&cuInit)},
    {"cuKernelGetFunction", 12000, address(&cuKernelGetFunction)},
    {"cuLaunchHostFunc", 10000, address(&cuLaunchHostFunc)},
    {"cuLaunchKernel", 4000, address(&cuLaunchKernel)},
    {"cuLaunchKernelEx", 11060, address(&cuLaunchKernelEx)},
    {"cuLibraryGetGlobal", 12000, address(&cuLibraryGetGlobal)},
    {"cuLibraryGetKernel", 12000, address(&cuLibraryGetKernel)},
    {"cuLibraryGetModule", 12000, address(&cuLibraryGetModule)},
    {"cuLibraryLoadData", 12000, address(&cuLibraryLoadData)},
    {"cuLibraryUnload", 12000, address(&cuLibraryUnload)},
    {"cuMemAddressFree", 10020, address(&cuMemAddressFree)},
    {"cuMemAddressReserve", 10020, address(&cuMemAddressReserve)},
    {"cuMemAlloc", 3020, address(&cuMemAlloc_v2)},
    {"cuMemAllocHost", 3020, address(&cuMemAllocHost_v2)},
    {"cuMemCreate", 10020, address(&cuMemCreate)},
    {"cuMemExportToShareableHandle", 10020, address(&cuMemExportToShareableHandle)},
    {"cuMemFree", 3020, address(&cuMemFree_v2)},
    {"cuMemFreeHost", 2000, address(&cuMemFreeHost)},
    {"cuMemGetAccess", 10020, address(&cuMemGetAccess)},
    {"cuMemGetAddressRange", 3020, address(&cuMemGetAddressRange_v2)},
    {"cuMemGetAllocationGranularity", 10020, address(&cuMemGetAllocationGranularity)},
    {"cuMemGetAllocationPropertiesFromHandle", 10020, address(&cuMemGetAllocationPropertiesFromHandle)},
    {"cuMemGetInfo", 3020, address(&cuMemGetInfo_v2)},
    {"cuMemHostAlloc", 2020, address(&cuMemHostAlloc)},
    {"cuMemHostGetDevicePointer", 3020, address(&cuMemHostGetDevicePointer_v2)},
    {"cuMemHostGetFlags", 2030, address(&cuMemHostGetFlags)},
    {"cuMemHostRegister", 6050, address(&cuMemHostRegister_v2)},
    {"cuMemHostUnregister", 4000, address(&cuMemHostUnregister)},
    {"cuMemImportFromShareableHandle", 10020, address(&cuMemImportFromShareableHandle)},
    {"cuMemMap", 10020, address(&cuMemMap)},
    {"cuMemRelease", 10020, address(&cuMemRelease)},
    {"cuMemRetainAllocationHandle", 11000, address(&cuMemRetainAllocationHandle)},
    {"cuMemSetAccess", 10020, address(&cuMemSetAccess)},
    {"cuMemUnmap", 10020, address(&cuMemUnmap)},
    {"cuMemcpy", 4000, address(&cuMemcpy)},
    {"cuMemcpy2D", 3020, address(&cuMemcpy2D_v2)},
    {"cuMemcpy2DAsync", 3020, address(&cuMemcpy2DAsync_v2)},
    {"cuMemcpy2DUnaligned", 3020, address(&cuMemcpy2DUnaligned_v2)},
    {"cuMemcpy3D", 3020, address(&cuMemcpy3D_v2)},
    {"cuMemcpy3DAsync", 3020, address(&cuMemcpy3DAsync_v2)},
    {"cuMemcpy3DPeer", 4000, address(&cuMemcpy3DPeer)},
    {"cuMemcpy3DPeerAsync", 4000, address(&cuMemcpy3DPeerAsync)},
    {"cuMemcpyAsync", 4000, address(&cuMemcpyAsync)},
    {"cuMemcpyDtoD", 3020, address(&cuMemcpyDtoD_v2)},
    {"cuMemcpyDtoDAsync", 3020, address(&cuMemcpyDtoDAsync_v2)},
    {"cuMemcpyDtoH", 3020, address(&cuMemcpyDtoH_v2)},
    {"cuMemcpyDtoHAsync", 3020, address(&cuMemcpyDtoHAsync_v2)},
    {"cuMemcpyHtoD", 3020, address(&cuMemcpyHtoD_v2)},
    {"cuMemcpyHtoDAsync", 3020, address(&cuMemcpyHtoDAsync_v2)},
    {"cuMemcpyPeer", 4000, address(&cuMemcpyPeer)},
    {"cuMemcpyPeerAsync", 4000, address(&cuMemcpyPeerAsync)},
    {"cuMemsetD16", 3020, address(&cuMemsetD16_v2)},
    {"cuMemsetD16Async", 3020, address(&cuMemsetD16Async)},
    {"cuMemsetD2D16", 3020, address(&cuMemsetD2D16_v2)},
    {"cuMemsetD2D16Async", 3020, address(&cuMemsetD2D16Async)},
    {"cuMemsetD2D32", 3020, address(&cuMemsetD2D32_v2)},
    {"cuMemsetD2D32Async", 3020, address(&cuMemsetD2D32Async)},
    {"cuMemsetD2D8", 3020, address(&cuMemsetD2D8_v2)},
    {"cuMemsetD2D8Async", 3020, address(&cuMemsetD2D8Async)},
    {"cuMemsetD32", 3020, address(&cuMemsetD32_v2)},
    {"cuMemsetD32Async", 3020, address(&cuMemsetD32Async)},
    {"cuMemsetD8", 3020, address(&cuMemsetD8_v2)},
    {"cuMemsetD8Async", 3020, address(&cuMemsetD8Async)},
    {"cuModuleGetFunction", 2000, address(&cuModuleGetFunction)},
    {"cuModuleGetGlobal", 3020, address(&cuModuleGetGlobal_v2)},
    {"cuModuleLoadData", 2000, address(&cuModuleLoadData)},
    {"cuModuleLoadDataEx", 2010, address(&cuModuleLoadDataEx)},
    {"cuModuleLoadFatBinary", 2000, address(&cuModuleLoadFatBinary)},
    {"cuModuleUnload", 2000, address(&cuModuleUnload)},
    {"cuOccupancyMaxActiveBlocksPerMultiprocessor", 6050,
     address(&cuOccupancyMaxActiveBlocksPerMultiprocessor)},
    {"cuOccupancyMaxPotentialBlockSize", 6050, address(&cuOccupancyMaxPotentialBlockSize)},
    {"cuPointerGetAttribute", 4000, address(&cuPointerGetAttribute)},
    {"cuPointerGetAttributes", 7000, address(&cuPointerGetAttributes)},
    {"cuStreamCreate", 2000, address(&cuStreamCreate)},
    {"cuStreamCreateWithPriority", 5050, address(&cuStreamCreateWithPriority)},
    {"cuStreamDestroy", 4000, address(&cuStreamDestroy_v2)},
    {"cuStreamGetCtx", 9020, address(&cuStreamGetCtx)},
    {"cuStreamGetFlags", 5050, address(&cuStreamGetFlags)},
    {"cuStreamGetPriority", 5050, address(&cuStreamGetPriority)},
    {"cuStreamQuery", 2000, address(&cuStreamQuery)},
    {"cuStreamSynchronize", 2000, address(&cuStreamSynchronize)},
    {"cuStreamWaitEvent", 3020, address(&cuStreamWaitEvent)},
    {"cuStreamWaitValue32", 11070, address(&cuStreamWaitValue32_v2)},
    {"cuStreamWaitValue64", 11070, address(&cuStreamWaitValue64_v2)},
    {"cuStreamWriteValue32", 11070, address(&cuStreamWriteValue32_v2)},
    {"cuStreamWriteValue64", 11070, address(&cuStreamWriteValue64_v2)},
};

}  // namespace

bool standin::knows_function(std::string_view name) {
  for (const Known& each : kKnown)
    if (name == each.name) return true;
  return false;
}

STANDIN_API cuGetProcAddress_v2(const char* name, void** function, int version, cuuint64_t flags,
                                CUdriverProcAddressQueryResult* status) {
  STANDIN_ENTER(kNothing);
  if (name == nullptr || function == nullptr || version > CUDA_VERSION || flags > 2)
    return CUDA_ERROR_INVALID_VALUE;
  *function = nullptr;
  CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  int best = 0;
  for (const Known& each : kKnown) {
    if (std::strcmp(each.name, name) != 0) continue;
    if (each.since > version) {
      if (*function == nullptr) found = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
    } else if (each.since > best) {
      best = each.since;
      *function = each.function;
      found = CU_GET_PROC_ADDRESS_SUCCESS;
    }
  }
  if (status != nullptr) *status = found;
  return CUDA_SUCCESS;
}

STANDIN_API cuGetProcAddress(const char* name, void** function, int version, cuuint64_t flags) {
  CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
  const CUresult result = cuGetProcAddress_v2(name, function, version, flags, &status);
  return result == CUDA_SUCCESS && *function == nullptr ? CUDA_ERROR_NOT_FOUND : result;
}
