#pragma once
// The host's side of cuda_runtime.h in C++: the calls of cuda_runtime_api.h with pointers of their own types, with kernels and
// variables by name. Included by cuda_runtime.h.

#include "channel_descriptor.h"
#include "cuda_runtime_api.h"

// ---- memory ----

template <class T>
inline cudaError_t cudaMalloc(T** devPtr, size_t size) {
  return cudaMalloc((void**)(devPtr), size);
}
template <class T>
inline cudaError_t cudaMallocManaged(T** devPtr, size_t size, unsigned int flags = cudaMemAttachGlobal) {
  return cudaMallocManaged((void**)(devPtr), size, flags);
}
template <class T>
inline cudaError_t cudaMallocHost(T** ptr, size_t size, unsigned int flags = 0) {
  return cudaHostAlloc((void**)(ptr), size, flags);
}
static inline cudaError_t cudaMallocHost(void** ptr, size_t size, unsigned int flags) {
  return cudaHostAlloc(ptr, size, flags);
}
template <class T>
inline cudaError_t cudaHostAlloc(T** ptr, size_t size, unsigned int flags) {
  return cudaHostAlloc((void**)(ptr), size, flags);
}
template <class T>
inline cudaError_t cudaHostGetDevicePointer(T** pDevice, void* pHost, unsigned int flags) {
  return cudaHostGetDevicePointer((void**)(pDevice), pHost, flags);
}
template <class T>
inline cudaError_t cudaMallocPitch(T** devPtr, size_t* pitch, size_t width, size_t height) {
  return cudaMallocPitch((void**)(devPtr), pitch, width, height);
}
template <class T>
inline cudaError_t cudaMallocAsync(T** ptr, size_t size, cudaStream_t stream) {
  return cudaMallocAsync((void**)(ptr), size, stream);
}
template <class T>
inline cudaError_t cudaMallocAsync(T** ptr, size_t size, cudaMemPool_t memPool, cudaStream_t stream) {
  return cudaMallocFromPoolAsync((void**)(ptr), size, memPool, stream);
}
static inline cudaError_t cudaMallocAsync(void** ptr, size_t size, cudaMemPool_t memPool,
                                          cudaStream_t stream) {
  return cudaMallocFromPoolAsync(ptr, size, memPool, stream);
}
template <class T>
inline cudaError_t cudaMallocFromPoolAsync(T** ptr, size_t size, cudaMemPool_t memPool, cudaStream_t stream) {
  return cudaMallocFromPoolAsync((void**)(ptr), size, memPool, stream);
}
template <class T>
inline cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, T* devPtr, size_t length = 0,
                                            unsigned int flags = cudaMemAttachSingle) {
  return cudaStreamAttachMemAsync(stream, static_cast<void*>(devPtr), length, flags);
}

// ---- variables of kernels, by name ----

namespace nuna_cudart {
template <class T>
inline const void* address_of(const T& symbol) {
  return const_cast<const char*>(&reinterpret_cast<const volatile char&>(symbol));
}
}  // namespace nuna_cudart

template <class T>
inline cudaError_t cudaGetSymbolAddress(void** devPtr, const T& symbol) {
  return cudaGetSymbolAddress(devPtr, nuna_cudart::address_of(symbol));
}
template <class P, class T>
inline cudaError_t cudaGetSymbolAddress(P** devPtr, const T& symbol) {
  return cudaGetSymbolAddress((void**)(devPtr), nuna_cudart::address_of(symbol));
}
template <class T>
inline cudaError_t cudaGetSymbolSize(size_t* size, const T& symbol) {
  return cudaGetSymbolSize(size, nuna_cudart::address_of(symbol));
}
template <class T>
inline cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* src, size_t count, size_t offset = 0,
                                      cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return cudaMemcpyToSymbol(nuna_cudart::address_of(symbol), src, count, offset, kind);
}
template <class T>
inline cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* src, size_t count, size_t offset = 0,
                                           cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                           cudaStream_t stream = 0) {
  return cudaMemcpyToSymbolAsync(nuna_cudart::address_of(symbol), src, count, offset, kind, stream);
}
template <class T>
inline cudaError_t cudaMemcpyFromSymbol(void* dst, const T& symbol, size_t count, size_t offset = 0,
                                        cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return cudaMemcpyFromSymbol(dst, nuna_cudart::address_of(symbol), count, offset, kind);
}
template <class T>
inline cudaError_t cudaMemcpyFromSymbolAsync(void* dst, const T& symbol, size_t count, size_t offset = 0,
                                             cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                             cudaStream_t stream = 0) {
  return cudaMemcpyFromSymbolAsync(dst, nuna_cudart::address_of(symbol), count, offset, kind, stream);
}

// ---- kernels, by name ----

template <class T>
inline cudaError_t cudaLaunchKernel(T* func, dim3 gridDim, dim3 blockDim, void** args, size_t sharedMem = 0,
                                    cudaStream_t stream = 0) {
  return cudaLaunchKernel(reinterpret_cast<const void*>(func), gridDim, blockDim, args, sharedMem, stream);
}
template <class T>
inline cudaError_t cudaLaunchCooperativeKernel(T* func, dim3 gridDim, dim3 blockDim, void** args,
                                               size_t sharedMem = 0, cudaStream_t stream = 0) {
  return cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(func), gridDim, blockDim, args, sharedMem,
                                     stream);
}

// Arguments are converted to the kernel's parameters, which is what the kernel reads.
namespace nuna_cudart {
template <class... Parameters>
inline cudaError_t launch_with(const cudaLaunchConfig_t* config, const void* kernel,
                               Parameters... arguments) {
  void* pointers[] = {const_cast<void*>(address_of(arguments))..., nullptr};
  return cudaLaunchKernelExC(config, kernel, pointers);
}
}  // namespace nuna_cudart
template <class... Parameters, class... Arguments>
inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                                      Arguments&&... arguments) {
  return nuna_cudart::launch_with<Parameters...>(config, reinterpret_cast<const void*>(kernel),
                                                 static_cast<Arguments&&>(arguments)...);
}

template <class T>
inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attr, T* entry) {
  return cudaFuncGetAttributes(attr, reinterpret_cast<const void*>(entry));
}
template <class T>
inline cudaError_t cudaFuncSetAttribute(T* func, cudaFuncAttribute attr, int value) {
  return cudaFuncSetAttribute(reinterpret_cast<const void*>(func), attr, value);
}
template <class T>
inline cudaError_t cudaFuncSetCacheConfig(T* func, cudaFuncCache cacheConfig) {
  return cudaFuncSetCacheConfig(reinterpret_cast<const void*>(func), cacheConfig);
}
template <class T>
inline cudaError_t cudaFuncSetSharedMemConfig(T* func, cudaSharedMemConfig config) {
  return cudaFuncSetSharedMemConfig(reinterpret_cast<const void*>(func), config);
}
template <class T>
inline cudaError_t cudaFuncGetName(const char** name, T* func) {
  return cudaFuncGetName(name, reinterpret_cast<const void*>(func));
}
template <class T>
inline cudaError_t cudaGetFuncBySymbol(cudaFunction_t* function, T* symbol) {
  return cudaGetFuncBySymbol(function, reinterpret_cast<const void*>(symbol));
}

// ---- events ----

static inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned int flags) {
  return cudaEventCreateWithFlags(event, flags);
}

#include "nuna_cudart/occupancy_templates.h"
#include "nuna_cudart/texture_templates.h"
