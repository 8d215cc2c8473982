#pragma once
/* Reads and writes of surface objects; x counts bytes. Outside: a trap, zero (writes vanish), or the nearest element. */

#include "nuna/device/intrinsics.h"
#include "nuna/device/io.h"
#include "nuna_cudart/texture.h"
#include "surface_types.h"

/* Null where nothing is to be done. */
template <class T>
NUNA_DEVICE T* __nuna_surface_at(cudaSurfaceObject_t object, long long x, long long y, long long z,
                                 cudaSurfaceBoundaryMode mode) {
  const nuna_surface& surface = *(const nuna_surface*)object;
  const long long row = (long long)(surface.width * surface.texel_bytes);
  const long long height = (long long)surface.height, depth = (long long)surface.depth;
  if (x < 0 || x + (long long)sizeof(T) > row || y < 0 || y >= height || z < 0 || z >= depth) {
    if (mode == cudaBoundaryModeTrap) __trap();
    if (mode == cudaBoundaryModeZero) return nullptr;
    x = x < 0 ? 0 : x + (long long)sizeof(T) > row ? row - (long long)sizeof(T) : x;
    y = y < 0 ? 0 : y >= height ? height - 1 : y;
    z = z < 0 ? 0 : z >= depth ? depth - 1 : z;
  }
  return (T*)(surface.base + x + y * (long long)surface.row_bytes + z * (long long)surface.plane_bytes);
}

#define NUNA_UNPACK(...) __VA_ARGS__
#define NUNA_SURFACE(name, parameters, names, ...)                                          \
  template <class T>                                                                        \
  NUNA_DEVICE T name##read(cudaSurfaceObject_t object, NUNA_UNPACK parameters,              \
                           cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {           \
    const T* at = __nuna_surface_at<T>(object, __VA_ARGS__, mode);                          \
    if (at != nullptr) return *at;                                                          \
    T zero;                                                                                 \
    __builtin_memset((void*)&zero, 0, sizeof(T));                                           \
    return zero;                                                                            \
  }                                                                                         \
  template <class T>                                                                        \
  NUNA_DEVICE void name##read(T* value, cudaSurfaceObject_t object, NUNA_UNPACK parameters, \
                              cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {        \
    *value = name##read<T>(object, NUNA_UNPACK names, mode);                                \
  }                                                                                         \
  template <class T>                                                                        \
  NUNA_DEVICE void name##write(T value, cudaSurfaceObject_t object, NUNA_UNPACK parameters, \
                               cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {       \
    T* at = __nuna_surface_at<T>(object, __VA_ARGS__, mode);                                \
    if (at != nullptr) *at = value;                                                         \
  }
NUNA_SURFACE(surf1D, (int x), (x), x, 0, 0)
NUNA_SURFACE(surf2D, (int x, int y), (x, y), x, y, 0)
NUNA_SURFACE(surf3D, (int x, int y, int z), (x, y, z), x, y, z)
NUNA_SURFACE(surf1DLayered, (int x, int layer), (x, layer), x, 0, layer)
NUNA_SURFACE(surf2DLayered, (int x, int y, int layer), (x, y, layer), x, y, layer)
NUNA_SURFACE(surfCubemap, (int x, int y, int face), (x, y, face), x, y, face)
#undef NUNA_SURFACE
#undef NUNA_UNPACK
