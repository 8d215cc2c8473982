#pragma once
// Arrays, texture and surface objects.

#include <cstddef>

#include "copy.hpp"
#include "cuda_runtime_api.h"
#include "nuna_cudart/texture.h"

namespace nuna::cudart {

/// Memory of texels: rows, planes of rows. Layers and faces are planes.
struct Array {
  cudaChannelFormatDesc format{};
  cudaExtent extent{};  ///< as asked for: height and depth may be 0
  unsigned int flags = 0;
  std::byte* memory = nullptr;
  std::size_t texel_bytes = 0;
  std::size_t row_bytes = 0;

  Array(const cudaChannelFormatDesc& desc, const cudaExtent& size, unsigned int array_flags);
  ~Array();
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  std::size_t rows() const { return extent.height > 0 ? extent.height : 1; }
  std::size_t planes() const { return extent.depth > 0 ? extent.depth : 1; }
  std::size_t width_bytes() const { return extent.width * texel_bytes; }
  /// From a texel's byte in a row on.
  Place place(std::size_t byte, std::size_t row, std::size_t plane) const;
};

/// Throws Refused (cudaErrorInvalidResourceHandle).
std::shared_ptr<Array> array_of(cudaArray_const_t handle);
/// Throws Refused (cudaErrorInvalidChannelDescriptor).
std::size_t texel_bytes_of(const cudaChannelFormatDesc& format);

void note_texture_reference(const void* host, bool as_float);

}  // namespace nuna::cudart
