#pragma once
// Binding of texture<T, dimensions, mode> and surface<>, which derive from the references; without naming them, because a program of today may use these names. Part of runtime_templates.h.

template <template <class, int, enum cudaTextureReadMode> class Texture, class T, int dim,
          enum cudaTextureReadMode mode>
inline cudaError_t cudaBindTexture(size_t* offset, const Texture<T, dim, mode>& tex, const void* devPtr,
                                   const cudaChannelFormatDesc& desc, size_t size = UINT_MAX) {
  return cudaBindTexture(offset, static_cast<const textureReference*>(&tex), devPtr, &desc, size);
}
template <template <class, int, enum cudaTextureReadMode> class Texture, class T, int dim,
          enum cudaTextureReadMode mode>
inline cudaError_t cudaBindTexture(size_t* offset, const Texture<T, dim, mode>& tex, const void* devPtr,
                                   size_t size = UINT_MAX) {
  return cudaBindTexture(offset, tex, devPtr, cudaCreateChannelDesc<T>(), size);
}
template <template <class, int, enum cudaTextureReadMode> class Texture, class T, int dim,
          enum cudaTextureReadMode mode>
inline cudaError_t cudaBindTexture2D(size_t* offset, const Texture<T, dim, mode>& tex, const void* devPtr,
                                     const cudaChannelFormatDesc& desc, size_t width, size_t height,
                                     size_t pitch) {
  return cudaBindTexture2D(offset, static_cast<const textureReference*>(&tex), devPtr, &desc, width, height,
                           pitch);
}
template <template <class, int, enum cudaTextureReadMode> class Texture, class T, int dim,
          enum cudaTextureReadMode mode>
inline cudaError_t cudaBindTexture2D(size_t* offset, const Texture<T, dim, mode>& tex, const void* devPtr,
                                     size_t width, size_t height, size_t pitch) {
  return cudaBindTexture2D(offset, tex, devPtr, cudaCreateChannelDesc<T>(), width, height, pitch);
}
template <template <class, int, enum cudaTextureReadMode> class Texture, class T, int dim,
          enum cudaTextureReadMode mode>
inline cudaError_t cudaBindTextureToArray(const Texture<T, dim, mode>& tex, cudaArray_const_t array,
                                          const cudaChannelFormatDesc& desc) {
  return cudaBindTextureToArray(static_cast<const textureReference*>(&tex), array, &desc);
}
template <template <class, int, enum cudaTextureReadMode> class Texture, class T, int dim,
          enum cudaTextureReadMode mode>
inline cudaError_t cudaBindTextureToArray(const Texture<T, dim, mode>& tex, cudaArray_const_t array) {
  cudaChannelFormatDesc desc;
  const cudaError_t problem = cudaGetChannelDesc(&desc, array);
  return problem != cudaSuccess ? problem : cudaBindTextureToArray(tex, array, desc);
}
template <template <class, int, enum cudaTextureReadMode> class Texture, class T, int dim,
          enum cudaTextureReadMode mode>
inline cudaError_t cudaUnbindTexture(const Texture<T, dim, mode>& tex) {
  return cudaUnbindTexture(static_cast<const textureReference*>(&tex));
}
template <template <class, int, enum cudaTextureReadMode> class Texture, class T, int dim,
          enum cudaTextureReadMode mode>
inline cudaError_t cudaGetTextureAlignmentOffset(size_t* offset, const Texture<T, dim, mode>& tex) {
  return cudaGetTextureAlignmentOffset(offset, static_cast<const textureReference*>(&tex));
}
template <template <class, int> class Surface, class T, int dim>
inline cudaError_t cudaBindSurfaceToArray(const Surface<T, dim>& surf, cudaArray_const_t array,
                                          const cudaChannelFormatDesc& desc) {
  return cudaBindSurfaceToArray(static_cast<const surfaceReference*>(&surf), array, &desc);
}
template <template <class, int> class Surface, class T, int dim>
inline cudaError_t cudaBindSurfaceToArray(const Surface<T, dim>& surf, cudaArray_const_t array) {
  cudaChannelFormatDesc desc;
  const cudaError_t problem = cudaGetChannelDesc(&desc, array);
  return problem != cudaSuccess ? problem : cudaBindSurfaceToArray(surf, array, desc);
}
