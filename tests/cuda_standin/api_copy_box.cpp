// The copy functions over rectangles and boxes, and the checks of their pitches.

#include "copy.hpp"

using namespace standin;

namespace {

constexpr std::uint64_t kMostPitch = 2147483647;

/// One side of the driver's structures, which name the same things differently.
struct Described {
  CUmemorytype type = CU_MEMORYTYPE_DEVICE;
  const void* host = nullptr;
  CUdeviceptr device = 0;
  std::size_t x_bytes = 0, y = 0, z = 0;
  std::size_t pitch = 0, height = 0;
  CUcontext context = nullptr;  // of the peer functions
};

CUresult side_of(const Described& from, const Extent& extent, bool volume, int device, Side& side) {
  if (from.context != nullptr) {
    const Context* context = context_of(from.context);
    if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    if (context->lost() != CUDA_SUCCESS) return context->lost();
    device = context->device;
  }
  if (from.pitch < from.x_bytes + extent.width_bytes) return CUDA_ERROR_INVALID_VALUE;
  if (volume && (extent.depth > 1 || from.z > 0) && from.height < from.y + extent.height)
    return CUDA_ERROR_INVALID_VALUE;
  Sort sort = Sort::kUnified;
  std::uint64_t base = from.device;
  switch (from.type) {
    case CU_MEMORYTYPE_HOST:
      sort = Sort::kHost, base = reinterpret_cast<std::uint64_t>(from.host);
      break;
    case CU_MEMORYTYPE_DEVICE:
      sort = Sort::kDevice;
      break;
    case CU_MEMORYTYPE_UNIFIED:
      break;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
  side.pitch = from.pitch;
  side.plane = from.pitch * from.height;
  const std::uint64_t address = base + from.x_bytes + from.y * side.pitch + from.z * side.plane;
  return make_side(sort, address, device, side) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult copy_box(CUstream handle, const Described& to, const Described& from, const Extent& extent,
                  bool volume, bool wait) {
  const auto stream = stream_of(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (stream->context().lost() != CUDA_SUCCESS) return stream->context().lost();
  if (extent.empty()) return CUDA_SUCCESS;
  Side target, source;
  const int device = stream->context().device;
  if (const CUresult wrong = side_of(to, extent, volume, device, target); wrong != CUDA_SUCCESS) return wrong;
  if (const CUresult wrong = side_of(from, extent, volume, device, source); wrong != CUDA_SUCCESS)
    return wrong;
  return submit_copy(*stream, target, source, extent, wait);
}

CUresult copy_rectangle(CUstream stream, const CUDA_MEMCPY2D* copy, bool any_pitch, bool wait) {
  if (copy == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!any_pitch && (copy->dstPitch > kMostPitch || copy->srcPitch > kMostPitch))
    return CUDA_ERROR_INVALID_VALUE;
  const Described to{copy->dstMemoryType, copy->dstHost, copy->dstDevice, copy->dstXInBytes, copy->dstY, 0,
                     copy->dstPitch};
  const Described from{copy->srcMemoryType, copy->srcHost, copy->srcDevice, copy->srcXInBytes, copy->srcY, 0,
                       copy->srcPitch};
  return copy_box(stream, to, from, {copy->WidthInBytes, copy->Height}, false, wait);
}

template <class Copy>
Described target_of(const Copy& copy) {
  return {copy.dstMemoryType, copy.dstHost, copy.dstDevice, copy.dstXInBytes,
          copy.dstY,          copy.dstZ,    copy.dstPitch,  copy.dstHeight};
}

template <class Copy>
Described source_of(const Copy& copy) {
  return {copy.srcMemoryType, copy.srcHost, copy.srcDevice, copy.srcXInBytes,
          copy.srcY,          copy.srcZ,    copy.srcPitch,  copy.srcHeight};
}

CUresult copy_volume(CUstream stream, const CUDA_MEMCPY3D* copy, bool wait) {
  if (copy == nullptr || copy->srcLOD != 0 || copy->dstLOD != 0) return CUDA_ERROR_INVALID_VALUE;
  return copy_box(stream, target_of(*copy), source_of(*copy), {copy->WidthInBytes, copy->Height, copy->Depth},
                  true, wait);
}

CUresult copy_peer_volume(CUstream stream, const CUDA_MEMCPY3D_PEER* copy, bool wait) {
  if (copy == nullptr || copy->srcLOD != 0 || copy->dstLOD != 0) return CUDA_ERROR_INVALID_VALUE;
  Described to = target_of(*copy), from = source_of(*copy);
  to.context = copy->dstContext;
  from.context = copy->srcContext;
  if (to.context == nullptr || from.context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  return copy_box(stream, to, from, {copy->WidthInBytes, copy->Height, copy->Depth}, true, wait);
}

}  // namespace

STANDIN_API cuMemcpy2D_v2(const CUDA_MEMCPY2D* copy) {
  STANDIN_ENTER(kContext);
  return copy_rectangle(nullptr, copy, false, true);
}

STANDIN_API cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D* copy) {
  STANDIN_ENTER(kContext);
  return copy_rectangle(nullptr, copy, true, true);
}

STANDIN_API cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* copy, CUstream stream) {
  STANDIN_ENTER(kContext);
  return copy_rectangle(stream, copy, false, false);
}

STANDIN_API cuMemcpy3D_v2(const CUDA_MEMCPY3D* copy) {
  STANDIN_ENTER(kContext);
  return copy_volume(nullptr, copy, true);
}

STANDIN_API cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* copy, CUstream stream) {
  STANDIN_ENTER(kContext);
  return copy_volume(stream, copy, false);
}

STANDIN_API cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER* copy) {
  STANDIN_ENTER(kContext);
  return copy_peer_volume(nullptr, copy, true);
}

STANDIN_API cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* copy, CUstream stream) {
  STANDIN_ENTER(kContext);
  return copy_peer_volume(stream, copy, false);
}
