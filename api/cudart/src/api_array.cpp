// Arrays, and copies to and from them.

#include <algorithm>
#include <vector>

#include "alias.hpp"
#include "call.hpp"
#include "device.hpp"
#include "handles.hpp"
#include "texture.hpp"
#include "transfer.hpp"

using namespace nuna::cudart;

namespace nuna::cudart {

std::size_t texel_bytes_of(const cudaChannelFormatDesc& format) {
  const int bits[] = {format.x, format.y, format.z, format.w};
  int sum = 0;
  for (const int b : bits) {
    require(b == 0 || b == 8 || b == 16 || b == 32, cudaErrorInvalidChannelDescriptor);
    sum += b;
  }
  require(format.x > 0, cudaErrorInvalidChannelDescriptor);
  return static_cast<std::size_t>(sum) / 8;
}

Array::Array(const cudaChannelFormatDesc& desc, const cudaExtent& size, unsigned int array_flags)
    : format(desc), extent(size), flags(array_flags), texel_bytes(texel_bytes_of(desc)) {
  require(extent.width > 0, cudaErrorInvalidValue);
  row_bytes = (width_bytes() + 63) / 64 * 64;
  memory = static_cast<std::byte*>(
      Device::get().memory().allocate(row_bytes * rows() * planes(), Allocation::Kind::device));
}

Array::~Array() {
  if (Device* device = Device::if_there()) device->memory().free(memory, {Allocation::Kind::device});
}

Place Array::place(std::size_t byte, std::size_t row, std::size_t plane) const {
  return {memory + byte + row * row_bytes + plane * row_bytes * rows(), row_bytes, row_bytes * rows()};
}

std::shared_ptr<Array> array_of(cudaArray_const_t handle) {
  auto array = handles<Array>().find(handle);
  require(array != nullptr, cudaErrorInvalidResourceHandle);
  return array;
}

}  // namespace nuna::cudart

namespace {

struct Mipmapped {
  std::vector<std::shared_ptr<Array>> levels;
};

// Copies of old between memory and an array go on from row to row: `count` bytes from (byte, row) on.
cudaError_t copy_running(cudaArray_const_t handle, size_t byte, size_t row, size_t count, std::byte* memory,
                         bool to_array, cudaMemcpyKind kind, const cudaStream_t* stream) {
  std::shared_ptr<Array> array;
  const cudaError_t error = device_call([&] {
    require(memory != nullptr, cudaErrorInvalidValue);
    array = array_of(handle);
    require(byte < array->width_bytes() && row < array->rows() &&
                count <= (array->rows() - row) * array->width_bytes() - byte,
            cudaErrorInvalidValue);
  });
  if (error != cudaSuccess) return error;
  while (count > 0) {
    const bool whole = byte == 0 && count >= array->width_bytes();
    const size_t rows = whole ? count / array->width_bytes() : 1;
    const size_t width = whole ? array->width_bytes() : std::min(count, array->width_bytes() - byte);
    const Place here = array->place(byte, row, 0);
    const Place there{memory, width, width * rows};
    const Copy copy{to_array ? here : there, to_array ? there : here, {width, rows, 1}};
    if (const cudaError_t failed = copy_call(copy, kind, stream)) return failed;
    memory += width * rows;
    count -= width * rows;
    row += rows;
    byte = 0;
  }
  return cudaSuccess;
}

cudaError_t copy_box(cudaArray_const_t handle, size_t byte, size_t row, std::byte* memory, size_t pitch,
                     size_t width, size_t height, bool to_array, cudaMemcpyKind kind,
                     const cudaStream_t* stream) {
  Copy copy;
  const cudaError_t error = device_call([&] {
    const auto array = array_of(handle);
    require(byte + width <= array->width_bytes() && row + height <= array->rows(), cudaErrorInvalidValue);
    const Place here = array->place(byte, row, 0);
    const Place there{memory, pitch, pitch * height};
    copy = {to_array ? here : there, to_array ? there : here, {width, height, 1}};
  });
  return error == cudaSuccess ? copy_call(copy, kind, stream) : error;
}

std::byte* bytes_at(const void* memory) { return static_cast<std::byte*>(const_cast<void*>(memory)); }

}  // namespace

extern "C" {

cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* desc, size_t width,
                            size_t height, unsigned int flags) {
  return cudaMalloc3DArray(array, desc, {width, height, 0}, flags);
}
cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* desc, cudaExtent extent,
                              unsigned int flags) {
  return device_call([&] {
    require(array != nullptr && desc != nullptr, cudaErrorInvalidValue);
    *array =
        reinterpret_cast<cudaArray_t>(handles<Array>().add(std::make_shared<Array>(*desc, extent, flags)));
  });
}
cudaError_t cudaFreeArray(cudaArray_t array) {
  if (array == nullptr) return cudaSuccess;
  if (Device::ended()) return cudaErrorCudartUnloading;
  return device_call([&] {
    Device::get().synchronize();
    const Turns::Turn turn = Device::get().memory().begin_change("a free of an array");
    require(handles<Array>().remove(array) != nullptr, cudaErrorInvalidResourceHandle);
  });
}
cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* desc, cudaExtent* extent, unsigned int* flags,
                             cudaArray_t array) {
  return device_call([&] {
    const auto found = array_of(array);
    if (desc != nullptr) *desc = found->format;
    if (extent != nullptr) *extent = found->extent;
    if (flags != nullptr) *flags = found->flags;
  });
}
cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* desc, cudaArray_const_t array) {
  return device_call([&] {
    require(desc != nullptr, cudaErrorInvalidValue);
    *desc = array_of(array)->format;
  });
}

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t* mipmappedArray, const cudaChannelFormatDesc* desc,
                                     cudaExtent extent, unsigned int numLevels, unsigned int flags) {
  return device_call([&] {
    require(mipmappedArray != nullptr && desc != nullptr && numLevels > 0, cudaErrorInvalidValue);
    auto made = std::make_shared<Mipmapped>();
    for (unsigned int level = 0; level < std::min(numLevels, 32u); ++level) {
      const auto half = [&](size_t size) { return size == 0 ? 0 : std::max<size_t>(1, size >> level); };
      const bool layered = (flags & (cudaArrayLayered | cudaArrayCubemap)) != 0;
      const cudaExtent of_level{half(extent.width), half(extent.height),
                                layered ? extent.depth : half(extent.depth)};
      made->levels.push_back(std::make_shared<Array>(*desc, of_level, flags));
    }
    for (const auto& level : made->levels) handles<Array>().add(level);
    *mipmappedArray = reinterpret_cast<cudaMipmappedArray_t>(handles<Mipmapped>().add(std::move(made)));
  });
}
cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t mipmappedArray) {
  if (mipmappedArray == nullptr) return cudaSuccess;
  return device_call([&] {
    Device::get().synchronize();
    const Turns::Turn turn = Device::get().memory().begin_change("a free of an array");
    const auto found = handles<Mipmapped>().remove(mipmappedArray);
    require(found != nullptr, cudaErrorInvalidResourceHandle);
    for (const auto& level : found->levels) handles<Array>().remove(level.get());
  });
}
cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t* levelArray, cudaMipmappedArray_const_t mipmappedArray,
                                       unsigned int level) {
  return device_call([&] {
    const auto found = handles<Mipmapped>().find(mipmappedArray);
    require(found != nullptr, cudaErrorInvalidResourceHandle);
    require(levelArray != nullptr && level < found->levels.size(), cudaErrorInvalidValue);
    *levelArray = reinterpret_cast<cudaArray_t>(found->levels[level].get());
  });
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t dst, size_t wOffset, size_t hOffset, const void* src,
                                size_t spitch, size_t width, size_t height, cudaMemcpyKind kind) {
  return copy_box(dst, wOffset, hOffset, bytes_at(src), spitch, width, height, true, kind, nullptr);
}
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t dst, size_t wOffset, size_t hOffset, const void* src,
                                     size_t spitch, size_t width, size_t height, cudaMemcpyKind kind,
                                     cudaStream_t stream) {
  return copy_box(dst, wOffset, hOffset, bytes_at(src), spitch, width, height, true, kind, &stream);
}
cudaError_t cudaMemcpy2DFromArray(void* dst, size_t dpitch, cudaArray_const_t src, size_t wOffset,
                                  size_t hOffset, size_t width, size_t height, cudaMemcpyKind kind) {
  return copy_box(src, wOffset, hOffset, bytes_at(dst), dpitch, width, height, false, kind, nullptr);
}
cudaError_t cudaMemcpy2DFromArrayAsync(void* dst, size_t dpitch, cudaArray_const_t src, size_t wOffset,
                                       size_t hOffset, size_t width, size_t height, cudaMemcpyKind kind,
                                       cudaStream_t stream) {
  return copy_box(src, wOffset, hOffset, bytes_at(dst), dpitch, width, height, false, kind, &stream);
}
cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst,
                                     cudaArray_const_t src, size_t wOffsetSrc, size_t hOffsetSrc,
                                     size_t width, size_t height, cudaMemcpyKind kind) {
  Place from;
  const cudaError_t error = device_call([&] {
    const auto array = array_of(src);
    require(wOffsetSrc + width <= array->width_bytes() && hOffsetSrc + height <= array->rows(),
            cudaErrorInvalidValue);
    from = array->place(wOffsetSrc, hOffsetSrc, 0);
  });
  if (error != cudaSuccess) return error;
  return copy_box(dst, wOffsetDst, hOffsetDst, from.first, from.row_bytes, width, height, true, kind,
                  nullptr);
}
cudaError_t cudaMemcpyToArray(cudaArray_t dst, size_t wOffset, size_t hOffset, const void* src, size_t count,
                              cudaMemcpyKind kind) {
  return copy_running(dst, wOffset, hOffset, count, bytes_at(src), true, kind, nullptr);
}
cudaError_t cudaMemcpyToArrayAsync(cudaArray_t dst, size_t wOffset, size_t hOffset, const void* src,
                                   size_t count, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_running(dst, wOffset, hOffset, count, bytes_at(src), true, kind, &stream);
}
cudaError_t cudaMemcpyFromArray(void* dst, cudaArray_const_t src, size_t wOffset, size_t hOffset,
                                size_t count, cudaMemcpyKind kind) {
  return copy_running(src, wOffset, hOffset, count, bytes_at(dst), false, kind, nullptr);
}
cudaError_t cudaMemcpyFromArrayAsync(void* dst, cudaArray_const_t src, size_t wOffset, size_t hOffset,
                                     size_t count, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_running(src, wOffset, hOffset, count, bytes_at(dst), false, kind, &stream);
}
cudaError_t cudaMemcpyArrayToArray(cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst,
                                   cudaArray_const_t src, size_t wOffsetSrc, size_t hOffsetSrc, size_t count,
                                   cudaMemcpyKind kind) {
  std::vector<std::byte> between(count);
  const cudaError_t error = cudaMemcpyFromArray(between.data(), src, wOffsetSrc, hOffsetSrc, count, kind);
  if (error != cudaSuccess) return error;
  return cudaMemcpyToArray(dst, wOffsetDst, hOffsetDst, between.data(), count, kind);
}

NUNA_PER_THREAD_DEFAULT(cudaMemcpy2DToArray);
NUNA_PER_THREAD(cudaMemcpy2DToArrayAsync);
NUNA_PER_THREAD_DEFAULT(cudaMemcpy2DFromArray);
NUNA_PER_THREAD(cudaMemcpy2DFromArrayAsync);
NUNA_PER_THREAD_DEFAULT(cudaMemcpyToArray);
NUNA_PER_THREAD(cudaMemcpyToArrayAsync);
NUNA_PER_THREAD_DEFAULT(cudaMemcpyFromArray);
NUNA_PER_THREAD(cudaMemcpyFromArrayAsync);
NUNA_PER_THREAD_DEFAULT(cudaMemcpyArrayToArray);
NUNA_PER_THREAD_DEFAULT(cudaMemcpy2DArrayToArray);
}
