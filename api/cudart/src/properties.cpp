#include "properties.hpp"

#include <cstdio>
#include <limits>

#include "call.hpp"
#include "limits.hpp"

namespace nuna::cudart {
namespace {

constexpr int kClockKhz = 2'000'000;
constexpr int kMemoryClockKhz = 1'600'000;
constexpr int kTexture1D = 131072;
constexpr int kTexture2D = 131072;
constexpr int kTexture2DHeight = 65536;
constexpr int kTexture3D = 16384;
constexpr int kCube = 32768;
constexpr int kLayers = 2048;
constexpr int kSurfaceWidth = 32768;

template <std::size_t N>
void set(int (&to)[N], const int (&values)[N]) {
  for (std::size_t i = 0; i < N; ++i) to[i] = values[i];
}

void set_shape(cudaDeviceProp& p) {
  p.warpSize = 32;
  p.maxThreadsPerBlock = limits::kThreadsPerBlock;
  p.maxThreadsPerMultiProcessor = limits::kThreadsPerMultiprocessor;
  p.maxBlocksPerMultiProcessor = limits::kBlocksPerMultiprocessor;
  for (std::size_t a = 0; a < 3; ++a) {
    p.maxThreadsDim[a] = static_cast<int>(limits::kBlock[a]);
    p.maxGridSize[a] = static_cast<int>(limits::kGrid[a]);
  }
  p.regsPerBlock = 65536;
  p.regsPerMultiprocessor = 65536;
  p.sharedMemPerBlock = limits::kSharedBytes;
  p.sharedMemPerBlockOptin = limits::kMostSharedBytes;
  p.sharedMemPerMultiprocessor = limits::kMultiprocessorShared;
  p.reservedSharedMemPerBlock = 1024;
  p.totalConstMem = limits::kConstantBytes;
  p.memPitch = limits::kMostPitchBytes;
  p.textureAlignment = limits::kTextureAlignment;
  p.texturePitchAlignment = 32;
  p.surfaceAlignment = 512;
}

void set_textures(cudaDeviceProp& p) {
  p.maxTexture1D = kTexture1D;
  p.maxTexture1DMipmap = kSurfaceWidth;
  p.maxTexture1DLinear = 1 << 28;
  set(p.maxTexture2D, {kTexture2D, kTexture2DHeight});
  set(p.maxTexture2DMipmap, {kSurfaceWidth, kSurfaceWidth});
  set(p.maxTexture2DLinear, {kTexture2D, 65000, 2097120});
  set(p.maxTexture2DGather, {kSurfaceWidth, kSurfaceWidth});
  set(p.maxTexture3D, {kTexture3D, kTexture3D, kTexture3D});
  set(p.maxTexture3DAlt, {kTexture3D / 2, kTexture3D / 2, 2 * kTexture3D});
  p.maxTextureCubemap = kCube;
  set(p.maxTexture1DLayered, {kSurfaceWidth, kLayers});
  set(p.maxTexture2DLayered, {kSurfaceWidth, kSurfaceWidth, kLayers});
  set(p.maxTextureCubemapLayered, {kCube, kLayers - 2});
  p.maxSurface1D = kSurfaceWidth;
  set(p.maxSurface2D, {kTexture2D, kTexture2DHeight});
  set(p.maxSurface3D, {kTexture3D, kTexture3D, kTexture3D});
  set(p.maxSurface1DLayered, {kSurfaceWidth, kLayers});
  set(p.maxSurface2DLayered, {kSurfaceWidth, kSurfaceWidth, kLayers});
  p.maxSurfaceCubemap = kCube;
  set(p.maxSurfaceCubemapLayered, {kCube, kLayers - 2});
}

// The CPU's cores share the host's memory, and its atomics.
void set_abilities(cudaDeviceProp& p) {
  p.integrated = 1;
  p.canMapHostMemory = 1;
  p.concurrentKernels = 1;
  p.asyncEngineCount = 1;
  p.deviceOverlap = 1;
  p.unifiedAddressing = 1;
  p.streamPrioritiesSupported = 1;
  p.globalL1CacheSupported = 1;
  p.localL1CacheSupported = 1;
  p.managedMemory = 1;
  p.hostNativeAtomicSupported = 1;
  p.pageableMemoryAccess = 1;
  p.concurrentManagedAccess = 1;
  p.canUseHostPointerForRegisteredMem = 1;
  p.pageableMemoryAccessUsesHostPageTables = 1;
  p.directManagedMemAccessFromHost = 1;
  p.hostRegisterSupported = 1;
  p.memoryPoolsSupported = 1;
  p.singleToDoublePrecisionPerfRatio = 2;
  p.computeMode = cudaComputeModeDefault;
}

}  // namespace

cudaDeviceProp properties_of(const DeviceFacts& facts) {
  cudaDeviceProp p{};
  if (facts.kind == DeviceKind::cuda) {
    std::snprintf(p.name, sizeof p.name, "Nuna CUDA devices");
  } else {
    std::snprintf(p.name, sizeof p.name, "Nuna host device (%d thread%s)", facts.threads,
                  facts.threads == 1 ? "" : "s");
  }
  for (std::size_t i = 0; i < sizeof p.uuid.bytes; ++i) p.uuid.bytes[i] = "nuna host device"[i];
  p.totalGlobalMem = facts.memory_bytes;
  p.major = limits::kMajor;
  p.minor = limits::kMinor;
  p.multiProcessorCount = facts.threads;
  p.cooperativeLaunch = 1;
  p.clockRate = kClockKhz;
  p.memoryClockRate = kMemoryClockKhz;
  p.memoryBusWidth = 128;
  p.l2CacheSize = 4 << 20;
  set_shape(p);
  set_textures(p);
  set_abilities(p);
  return p;
}

namespace {

int clamped(std::size_t value) {
  constexpr auto kMost = static_cast<std::size_t>(std::numeric_limits<int>::max());
  return static_cast<int>(value < kMost ? value : kMost);
}

}  // namespace

int attribute_of(const cudaDeviceProp& p, cudaDeviceAttr attribute) {
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
      return p.maxThreadsPerBlock;
    case cudaDevAttrMaxBlockDimX:
      return p.maxThreadsDim[0];
    case cudaDevAttrMaxBlockDimY:
      return p.maxThreadsDim[1];
    case cudaDevAttrMaxBlockDimZ:
      return p.maxThreadsDim[2];
    case cudaDevAttrMaxGridDimX:
      return p.maxGridSize[0];
    case cudaDevAttrMaxGridDimY:
      return p.maxGridSize[1];
    case cudaDevAttrMaxGridDimZ:
      return p.maxGridSize[2];
    case cudaDevAttrMaxSharedMemoryPerBlock:
      return clamped(p.sharedMemPerBlock);
    case cudaDevAttrTotalConstantMemory:
      return clamped(p.totalConstMem);
    case cudaDevAttrWarpSize:
      return p.warpSize;
    case cudaDevAttrMaxPitch:
      return clamped(p.memPitch);
    case cudaDevAttrMaxRegistersPerBlock:
      return p.regsPerBlock;
    case cudaDevAttrClockRate:
      return p.clockRate;
    case cudaDevAttrTextureAlignment:
      return clamped(p.textureAlignment);
    case cudaDevAttrGpuOverlap:
      return p.deviceOverlap;
    case cudaDevAttrCooperativeLaunch:
      return p.cooperativeLaunch;
    case cudaDevAttrMultiProcessorCount:
      return p.multiProcessorCount;
    case cudaDevAttrKernelExecTimeout:
      return p.kernelExecTimeoutEnabled;
    case cudaDevAttrIntegrated:
      return p.integrated;
    case cudaDevAttrCanMapHostMemory:
      return p.canMapHostMemory;
    case cudaDevAttrComputeMode:
      return p.computeMode;
    case cudaDevAttrMaxTexture1DWidth:
      return p.maxTexture1D;
    case cudaDevAttrMaxTexture2DWidth:
      return p.maxTexture2D[0];
    case cudaDevAttrMaxTexture2DHeight:
      return p.maxTexture2D[1];
    case cudaDevAttrMaxTexture3DWidth:
      return p.maxTexture3D[0];
    case cudaDevAttrMaxTexture3DHeight:
      return p.maxTexture3D[1];
    case cudaDevAttrMaxTexture3DDepth:
      return p.maxTexture3D[2];
    case cudaDevAttrMaxTexture2DLayeredWidth:
      return p.maxTexture2DLayered[0];
    case cudaDevAttrMaxTexture2DLayeredHeight:
      return p.maxTexture2DLayered[1];
    case cudaDevAttrMaxTexture2DLayeredLayers:
      return p.maxTexture2DLayered[2];
    case cudaDevAttrSurfaceAlignment:
      return clamped(p.surfaceAlignment);
    case cudaDevAttrConcurrentKernels:
      return p.concurrentKernels;
    case cudaDevAttrEccEnabled:
      return p.ECCEnabled;
    case cudaDevAttrPciBusId:
      return p.pciBusID;
    case cudaDevAttrPciDeviceId:
      return p.pciDeviceID;
    case cudaDevAttrTccDriver:
      return p.tccDriver;
    case cudaDevAttrMemoryClockRate:
      return p.memoryClockRate;
    case cudaDevAttrGlobalMemoryBusWidth:
      return p.memoryBusWidth;
    case cudaDevAttrL2CacheSize:
      return p.l2CacheSize;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      return p.maxThreadsPerMultiProcessor;
    case cudaDevAttrAsyncEngineCount:
      return p.asyncEngineCount;
    case cudaDevAttrUnifiedAddressing:
      return p.unifiedAddressing;
    case cudaDevAttrMaxTexture1DLayeredWidth:
      return p.maxTexture1DLayered[0];
    case cudaDevAttrMaxTexture1DLayeredLayers:
      return p.maxTexture1DLayered[1];
    case cudaDevAttrMaxTexture2DGatherWidth:
      return p.maxTexture2DGather[0];
    case cudaDevAttrMaxTexture2DGatherHeight:
      return p.maxTexture2DGather[1];
    case cudaDevAttrMaxTexture3DWidthAlt:
      return p.maxTexture3DAlt[0];
    case cudaDevAttrMaxTexture3DHeightAlt:
      return p.maxTexture3DAlt[1];
    case cudaDevAttrMaxTexture3DDepthAlt:
      return p.maxTexture3DAlt[2];
    case cudaDevAttrPciDomainId:
      return p.pciDomainID;
    case cudaDevAttrTexturePitchAlignment:
      return clamped(p.texturePitchAlignment);
    case cudaDevAttrMaxTextureCubemapWidth:
      return p.maxTextureCubemap;
    case cudaDevAttrMaxTextureCubemapLayeredWidth:
      return p.maxTextureCubemapLayered[0];
    case cudaDevAttrMaxTextureCubemapLayeredLayers:
      return p.maxTextureCubemapLayered[1];
    case cudaDevAttrMaxSurface1DWidth:
      return p.maxSurface1D;
    case cudaDevAttrMaxSurface2DWidth:
      return p.maxSurface2D[0];
    case cudaDevAttrMaxSurface2DHeight:
      return p.maxSurface2D[1];
    case cudaDevAttrMaxSurface3DWidth:
      return p.maxSurface3D[0];
    case cudaDevAttrMaxSurface3DHeight:
      return p.maxSurface3D[1];
    case cudaDevAttrMaxSurface3DDepth:
      return p.maxSurface3D[2];
    case cudaDevAttrMaxSurface1DLayeredWidth:
      return p.maxSurface1DLayered[0];
    case cudaDevAttrMaxSurface1DLayeredLayers:
      return p.maxSurface1DLayered[1];
    case cudaDevAttrMaxSurface2DLayeredWidth:
      return p.maxSurface2DLayered[0];
    case cudaDevAttrMaxSurface2DLayeredHeight:
      return p.maxSurface2DLayered[1];
    case cudaDevAttrMaxSurface2DLayeredLayers:
      return p.maxSurface2DLayered[2];
    case cudaDevAttrMaxSurfaceCubemapWidth:
      return p.maxSurfaceCubemap;
    case cudaDevAttrMaxSurfaceCubemapLayeredWidth:
      return p.maxSurfaceCubemapLayered[0];
    case cudaDevAttrMaxSurfaceCubemapLayeredLayers:
      return p.maxSurfaceCubemapLayered[1];
    case cudaDevAttrMaxTexture1DLinearWidth:
      return p.maxTexture1DLinear;
    case cudaDevAttrMaxTexture2DLinearWidth:
      return p.maxTexture2DLinear[0];
    case cudaDevAttrMaxTexture2DLinearHeight:
      return p.maxTexture2DLinear[1];
    case cudaDevAttrMaxTexture2DLinearPitch:
      return p.maxTexture2DLinear[2];
    case cudaDevAttrMaxTexture2DMipmappedWidth:
      return p.maxTexture2DMipmap[0];
    case cudaDevAttrMaxTexture2DMipmappedHeight:
      return p.maxTexture2DMipmap[1];
    case cudaDevAttrComputeCapabilityMajor:
      return p.major;
    case cudaDevAttrComputeCapabilityMinor:
      return p.minor;
    case cudaDevAttrMaxTexture1DMipmappedWidth:
      return p.maxTexture1DMipmap;
    case cudaDevAttrStreamPrioritiesSupported:
      return p.streamPrioritiesSupported;
    case cudaDevAttrGlobalL1CacheSupported:
      return p.globalL1CacheSupported;
    case cudaDevAttrLocalL1CacheSupported:
      return p.localL1CacheSupported;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      return clamped(p.sharedMemPerMultiprocessor);
    case cudaDevAttrMaxRegistersPerMultiprocessor:
      return p.regsPerMultiprocessor;
    case cudaDevAttrManagedMemory:
      return p.managedMemory;
    case cudaDevAttrHostNativeAtomicSupported:
      return p.hostNativeAtomicSupported;
    case cudaDevAttrSingleToDoublePrecisionPerfRatio:
      return p.singleToDoublePrecisionPerfRatio;
    case cudaDevAttrPageableMemoryAccess:
      return p.pageableMemoryAccess;
    case cudaDevAttrConcurrentManagedAccess:
      return p.concurrentManagedAccess;
    case cudaDevAttrCanUseHostPointerForRegisteredMem:
      return p.canUseHostPointerForRegisteredMem;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return clamped(p.sharedMemPerBlockOptin);
    case cudaDevAttrHostRegisterSupported:
      return p.hostRegisterSupported;
    case cudaDevAttrPageableMemoryAccessUsesHostPageTables:
      return p.pageableMemoryAccessUsesHostPageTables;
    case cudaDevAttrDirectManagedMemAccessFromHost:
      return p.directManagedMemAccessFromHost;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      return p.maxBlocksPerMultiProcessor;
    case cudaDevAttrReservedSharedMemoryPerBlock:
      return clamped(p.reservedSharedMemPerBlock);
    case cudaDevAttrMemoryPoolsSupported:
      return p.memoryPoolsSupported;
    case cudaDevAttrNumaId:
    case cudaDevAttrHostNumaId:
      return -1;
    default:  // abilities that the device has not
      require(attribute >= 1 && attribute < cudaDevAttrMax, cudaErrorInvalidValue);
      return 0;
  }
}

}  // namespace nuna::cudart
