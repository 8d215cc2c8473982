#pragma once
/* texture<T, dimensions, mode> and surface<T, dimensions> of CUDA before 12: variables of the host, which it binds to memory. Clang
 * gives the device a word of the same name in their place; libnuna_cudart writes into it what a texture object would be.
 * Programs of today may use these names for things of their own: -DNUNA_NO_TEXTURE_REFERENCES leaves them alone. */

#ifndef NUNA_NO_TEXTURE_REFERENCES

#include "nuna/device/surface.h"
#include "nuna/device/texture.h"

template <class T, int dim = cudaTextureType1D, enum cudaTextureReadMode mode = cudaReadModeElementType>
struct __attribute__((device_builtin_texture_type)) texture : public textureReference {
  texture(int norm = 0, enum cudaTextureFilterMode filter = cudaFilterModePoint,
          enum cudaTextureAddressMode address = cudaAddressModeClamp)
      : texture(norm, filter, address, cudaCreateChannelDesc<T>()) {}
  texture(int norm, enum cudaTextureFilterMode filter, enum cudaTextureAddressMode address,
          struct cudaChannelFormatDesc desc)
      : textureReference() {
    normalized = norm;
    filterMode = filter;
    addressMode[0] = addressMode[1] = addressMode[2] = address;
    channelDesc = desc;
    readMode = mode;
  }
};
template <class T, int dim = cudaSurfaceType1D>
struct __attribute__((device_builtin_surface_type)) surface : public surfaceReference {
  surface() : surfaceReference() { channelDesc = cudaCreateChannelDesc<T>(); }
};
template <int dim>
struct __attribute__((device_builtin_surface_type)) surface<void, dim> : public surfaceReference {
  surface() : surfaceReference() {}
};

/* What a fetch returns: floats instead of small integers where they are normalised. */
template <class T, enum cudaTextureReadMode mode>
struct __nuna_fetched {
  typedef T type;
};
#define NUNA_FETCHED(integer, floats)                           \
  template <>                                                   \
  struct __nuna_fetched<integer, cudaReadModeNormalizedFloat> { \
    typedef floats type;                                        \
  };
#define NUNA_FETCHED_VECTORS(integer) \
  NUNA_FETCHED(integer##1, float1)    \
  NUNA_FETCHED(integer##2, float2) NUNA_FETCHED(integer##3, float3) NUNA_FETCHED(integer##4, float4)
NUNA_FETCHED(char, float)
NUNA_FETCHED(signed char, float)
NUNA_FETCHED(unsigned char, float)
NUNA_FETCHED(short, float)
NUNA_FETCHED(unsigned short, float)
NUNA_FETCHED_VECTORS(char)
NUNA_FETCHED_VECTORS(uchar)
NUNA_FETCHED_VECTORS(short)
NUNA_FETCHED_VECTORS(ushort)
#undef NUNA_FETCHED_VECTORS
#undef NUNA_FETCHED

/* The word that the device has for a reference. */
NUNA_DEVICE unsigned long long __nuna_bound(const textureReference& reference) {
  return *(const unsigned long long*)(const void*)&reference;
}
NUNA_DEVICE unsigned long long __nuna_bound(const surfaceReference& reference) {
  return *(const unsigned long long*)(const void*)&reference;
}

#define NUNA_UNPACK(...) __VA_ARGS__
#define NUNA_FETCH(name, dim, parameters, names)                                                \
  template <class T, enum cudaTextureReadMode mode>                                             \
  NUNA_DEVICE typename __nuna_fetched<T, mode>::type name(const texture<T, dim, mode>& from,    \
                                                          NUNA_UNPACK parameters) {             \
    return name<typename __nuna_fetched<T, mode>::type>(__nuna_bound(from), NUNA_UNPACK names); \
  }
NUNA_FETCH(tex1Dfetch, cudaTextureType1D, (int x), (x))
NUNA_FETCH(tex1D, cudaTextureType1D, (float x), (x))
NUNA_FETCH(tex2D, cudaTextureType2D, (float x, float y), (x, y))
NUNA_FETCH(tex3D, cudaTextureType3D, (float x, float y, float z), (x, y, z))
NUNA_FETCH(tex1DLayered, cudaTextureType1DLayered, (float x, int layer), (x, layer))
NUNA_FETCH(tex2DLayered, cudaTextureType2DLayered, (float x, float y, int layer), (x, y, layer))
NUNA_FETCH(texCubemap, cudaTextureTypeCubemap, (float x, float y, float z), (x, y, z))
NUNA_FETCH(texCubemapLayered, cudaTextureTypeCubemapLayered, (float x, float y, float z, int layer),
           (x, y, z, layer))
NUNA_FETCH(tex1DLod, cudaTextureType1D, (float x, float level), (x, level))
NUNA_FETCH(tex2DLod, cudaTextureType2D, (float x, float y, float level), (x, y, level))
NUNA_FETCH(tex3DLod, cudaTextureType3D, (float x, float y, float z, float level), (x, y, z, level))
#undef NUNA_FETCH

#define NUNA_SURFACE(name, dim, parameters, names)                                            \
  template <class T, class Of>                                                                \
  NUNA_DEVICE T name##read(const surface<Of, dim>& from, NUNA_UNPACK parameters,              \
                           cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {             \
    return name##read<T>(__nuna_bound(from), NUNA_UNPACK names, mode);                        \
  }                                                                                           \
  template <class T, class Of>                                                                \
  NUNA_DEVICE void name##read(T* value, const surface<Of, dim>& from, NUNA_UNPACK parameters, \
                              cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {          \
    *value = name##read<T>(__nuna_bound(from), NUNA_UNPACK names, mode);                      \
  }                                                                                           \
  template <class T, class Of>                                                                \
  NUNA_DEVICE void name##write(T value, const surface<Of, dim>& to, NUNA_UNPACK parameters,   \
                               cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {         \
    name##write(value, __nuna_bound(to), NUNA_UNPACK names, mode);                            \
  }
NUNA_SURFACE(surf1D, cudaSurfaceType1D, (int x), (x))
NUNA_SURFACE(surf2D, cudaSurfaceType2D, (int x, int y), (x, y))
NUNA_SURFACE(surf3D, cudaSurfaceType3D, (int x, int y, int z), (x, y, z))
NUNA_SURFACE(surf1DLayered, cudaSurfaceType1DLayered, (int x, int layer), (x, layer))
NUNA_SURFACE(surf2DLayered, cudaSurfaceType2DLayered, (int x, int y, int layer), (x, y, layer))
NUNA_SURFACE(surfCubemap, cudaSurfaceTypeCubemap, (int x, int y, int face), (x, y, face))
#undef NUNA_SURFACE
#undef NUNA_UNPACK

#endif
