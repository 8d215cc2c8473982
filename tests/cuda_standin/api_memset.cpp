// The fill functions.

#include "copy.hpp"

using namespace standin;

namespace {

CUresult fill(CUstream handle, CUdeviceptr address, std::size_t pitch, std::uint32_t value,
              std::size_t unit_bytes, std::size_t width, std::size_t height, bool wait) {
  const auto stream = stream_of(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (stream->context().lost() != CUDA_SUCCESS) return stream->context().lost();
  if (width == 0 || height == 0) return CUDA_SUCCESS;
  Side side;
  if (!make_side(Sort::kDevice, address, stream->context().device, side)) return CUDA_ERROR_INVALID_VALUE;
  side.pitch = pitch;
  return submit_fill(*stream, side, {width * unit_bytes, height}, value, unit_bytes, wait);
}

}  // namespace

STANDIN_API cuMemsetD8_v2(CUdeviceptr address, unsigned char value, size_t count) {
  STANDIN_ENTER(kContext);
  return fill(nullptr, address, 0, value, 1, count, 1, true);
}

STANDIN_API cuMemsetD8Async(CUdeviceptr address, unsigned char value, size_t count, CUstream stream) {
  STANDIN_ENTER(kContext);
  return fill(stream, address, 0, value, 1, count, 1, false);
}

STANDIN_API cuMemsetD2D8_v2(CUdeviceptr address, size_t pitch, unsigned char value, size_t width,
                            size_t height) {
  STANDIN_ENTER(kContext);
  return fill(nullptr, address, pitch, value, 1, width, height, true);
}

STANDIN_API cuMemsetD2D8Async(CUdeviceptr address, size_t pitch, unsigned char value, size_t width,
                              size_t height, CUstream stream) {
  STANDIN_ENTER(kContext);
  return fill(stream, address, pitch, value, 1, width, height, false);
}

STANDIN_API cuMemsetD16_v2(CUdeviceptr address, unsigned short value, size_t count) {
  STANDIN_ENTER(kContext);
  return fill(nullptr, address, 0, value, 2, count, 1, true);
}

STANDIN_API cuMemsetD16Async(CUdeviceptr address, unsigned short value, size_t count, CUstream stream) {
  STANDIN_ENTER(kContext);
  return fill(stream, address, 0, value, 2, count, 1, false);
}

STANDIN_API cuMemsetD2D16_v2(CUdeviceptr address, size_t pitch, unsigned short value, size_t width,
                             size_t height) {
  STANDIN_ENTER(kContext);
  return fill(nullptr, address, pitch, value, 2, width, height, true);
}

STANDIN_API cuMemsetD2D16Async(CUdeviceptr address, size_t pitch, unsigned short value, size_t width,
                               size_t height, CUstream stream) {
  STANDIN_ENTER(kContext);
  return fill(stream, address, pitch, value, 2, width, height, false);
}

STANDIN_API cuMemsetD32_v2(CUdeviceptr address, unsigned int value, size_t count) {
  STANDIN_ENTER(kContext);
  return fill(nullptr, address, 0, value, 4, count, 1, true);
}

STANDIN_API cuMemsetD32Async(CUdeviceptr address, unsigned int value, size_t count, CUstream stream) {
  STANDIN_ENTER(kContext);
  return fill(stream, address, 0, value, 4, count, 1, false);
}

STANDIN_API cuMemsetD2D32_v2(CUdeviceptr address, size_t pitch, unsigned int value, size_t width,
                             size_t height) {
  STANDIN_ENTER(kContext);
  return fill(nullptr, address, pitch, value, 4, width, height, true);
}

STANDIN_API cuMemsetD2D32Async(CUdeviceptr address, size_t pitch, unsigned int value, size_t width,
                               size_t height, CUstream stream) {
  STANDIN_ENTER(kContext);
  return fill(stream, address, pitch, value, 4, width, height, false);
}
