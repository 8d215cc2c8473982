#pragma once
/* Fetches from texture objects (nuna_cudart/texture.h says what lies behind them), by CUDA's rules: the texel of point filtering is
 * floor(x); linear filtering weighs the neighbours of x - 0.5 with weights of 8 bits. There are no mipmap levels. */

#include <string.h>

#include "nuna/device/intrinsics.h"
#include "nuna_cudart/texture.h"
#include "texture_types.h"

template <class T>
struct __nuna_floats {
  static constexpr int count = 0;
};
#define NUNA_FLOATS(T, n)           \
  template <>                       \
  struct __nuna_floats<T> {         \
    static constexpr int count = n; \
  };
NUNA_FLOATS(float, 1)
NUNA_FLOATS(float1, 1)
NUNA_FLOATS(float2, 2)
NUNA_FLOATS(float4, 4)
#undef NUNA_FLOATS

/* The place on an axis of n texels, or -1 outside with a border. Wrap and mirror are for normalised coordinates. */
NUNA_DEVICE long long __nuna_address(long long i, long long n, unsigned mode, bool normalized) {
  if (i >= 0 && i < n) return i;
  if (mode == cudaAddressModeBorder) return -1;
  if (normalized && mode == cudaAddressModeWrap) {
    const long long rest = i % n;
    return rest < 0 ? rest + n : rest;
  }
  if (normalized && mode == cudaAddressModeMirror) {
    long long rest = i % (2 * n);
    if (rest < 0) rest += 2 * n;
    return rest < n ? rest : 2 * n - 1 - rest;
  }
  return i < 0 ? 0 : n - 1;
}

NUNA_DEVICE float __nuna_channel(const nuna_texture& texture, const unsigned char* at) {
  const bool is_signed = texture.channel_kind == cudaChannelFormatKindSigned;
  if (texture.channel_bits == 8) {
    const float value = is_signed ? (float)(signed char)*at / 127.0f : (float)*at / 255.0f;
    return value < -1.0f ? -1.0f : value;
  }
  if (texture.channel_bits == 16) {
    unsigned short bits;
    __builtin_memcpy(&bits, at, 2);
    if (texture.channel_kind == cudaChannelFormatKindFloat) return (float)__builtin_bit_cast(_Float16, bits);
    const float value = is_signed ? (float)(short)bits / 32767.0f : (float)bits / 65535.0f;
    return value < -1.0f ? -1.0f : value;
  }
  float value;
  __builtin_memcpy(&value, at, 4);
  return value;
}

/* One texel, its place valid; null is the border. */
template <class T>
NUNA_DEVICE T __nuna_texel(const nuna_texture& texture, const unsigned char* at) {
  T result;
  __builtin_memset((void*)&result, 0, sizeof(T));
  constexpr int kFloats = __nuna_floats<T>::count;
  if (kFloats > 0 && (at == nullptr || texture.channel_bits != 32)) {
    float* values = (float*)&result;
    for (int i = 0; i < kFloats && i < (int)texture.channels; ++i)
      values[i] = at == nullptr ? texture.border[i]
                                : __nuna_channel(texture, at + i * (int)(texture.channel_bits / 8));
    return result;
  }
  if (at != nullptr) {
    if (texture.texel_bytes >= sizeof(T)) {
      __builtin_memcpy((void*)&result, at, sizeof(T));
    } else {
      memcpy((void*)&result, at, texture.texel_bytes);
    }
  }
  return result;
}
template <class T>
NUNA_DEVICE T __nuna_texel_at(const nuna_texture& texture, long long x, long long y, unsigned long long z) {
  if (x < 0 || y < 0 || z == ~0ull) return __nuna_texel<T>(texture, nullptr);
  return __nuna_texel<T>(texture, texture.base + (unsigned long long)x * texture.texel_bytes +
                                      (unsigned long long)y * texture.row_bytes + z * texture.plane_bytes);
}

/* Where a coordinate falls on one axis: two texels and the weight of the second. */
struct __nuna_axis {
  long long first, second;
  float weight;
};
NUNA_DEVICE __nuna_axis __nuna_on_axis(const nuna_texture& texture, float x, unsigned long long size,
                                       int axis, bool linear) {
  const bool normalized = texture.flags & NUNA_TEXTURE_NORMALIZED;
  float place = normalized ? x * (float)size : x;
  if (linear) place -= 0.5f;
  place = place > -1e9f ? (place < 1e9f ? place : 1e9f) : -1e9f;
  const float whole = __builtin_floorf(place);
  const unsigned mode = texture.address_mode[axis];
  __nuna_axis result = {__nuna_address((long long)whole, (long long)size, mode, normalized), 0, 0.0f};
  if (linear) {
    result.second = __nuna_address((long long)whole + 1, (long long)size, mode, normalized);
    result.weight = __builtin_rintf((place - whole) * 256.0f) * (1.0f / 256.0f);
  }
  return result;
}

template <class T>
NUNA_DEVICE T __nuna_mix(const T& a, const T& b, float weight) {
  T result = a;
  float* to = (float*)&result;
  for (int i = 0; i < __nuna_floats<T>::count; ++i)
    to[i] = (1.0f - weight) * ((const float*)&a)[i] + weight * ((const float*)&b)[i];
  return result;
}

/* `plane`: of layers and faces, or -1 where z is a coordinate. */
template <class T>
NUNA_DEVICE T __nuna_sample(cudaTextureObject_t object, int dimensions, float x, float y, float z,
                            long long plane) {
  const nuna_texture& texture = *(const nuna_texture*)object;
  const bool linear = __nuna_floats<T>::count > 0 && (texture.flags & NUNA_TEXTURE_FILTERED);
  const __nuna_axis none = {0, 0, 0.0f};
  const __nuna_axis ax = __nuna_on_axis(texture, x, texture.width, 0, linear);
  const __nuna_axis ay = dimensions > 1 ? __nuna_on_axis(texture, y, texture.height, 1, linear) : none;
  __nuna_axis az = none;
  if (plane >= 0) {
    az.first = az.second = plane < (long long)texture.depth ? plane : (long long)texture.depth - 1;
  } else if (dimensions > 2) {
    az = __nuna_on_axis(texture, z, texture.depth, 2, linear);
  }
  T value = __nuna_texel_at<T>(texture, ax.first, ay.first, (unsigned long long)az.first);
  if (!linear) return value;
  value = __nuna_mix(value, __nuna_texel_at<T>(texture, ax.second, ay.first, (unsigned long long)az.first),
                     ax.weight);
  if (dimensions < 2) return value;
  const T low = __nuna_texel_at<T>(texture, ax.first, ay.second, (unsigned long long)az.first);
  value = __nuna_mix(
      value,
      __nuna_mix(low, __nuna_texel_at<T>(texture, ax.second, ay.second, (unsigned long long)az.first),
                 ax.weight),
      ay.weight);
  if (dimensions < 3 || plane >= 0) return value;
  T far[2];
  for (int i = 0; i < 2; ++i) {
    const long long row = i ? ay.second : ay.first;
    far[i] =
        __nuna_mix(__nuna_texel_at<T>(texture, ax.first, row, (unsigned long long)az.second),
                   __nuna_texel_at<T>(texture, ax.second, row, (unsigned long long)az.second), ax.weight);
  }
  return __nuna_mix(value, __nuna_mix(far[0], far[1], ay.weight), az.weight);
}

template <class T>
NUNA_DEVICE T tex1Dfetch(cudaTextureObject_t object, int x) {
  const nuna_texture& texture = *(const nuna_texture*)object;
  if (x < 0 || (unsigned long long)x >= texture.width) {
    T zero;
    __builtin_memset((void*)&zero, 0, sizeof(T));
    return zero;
  }
  return __nuna_texel_at<T>(texture, x, 0, 0);
}
template <class T>
NUNA_DEVICE void tex1Dfetch(T* value, cudaTextureObject_t object, int x) {
  *value = tex1Dfetch<T>(object, x);
}

#define NUNA_UNPACK(...) __VA_ARGS__
/* In both forms: a value that returns, and one through a pointer. */
#define NUNA_FETCH(name, parameters, names, ...)                                        \
  template <class T>                                                                    \
  NUNA_DEVICE T name(cudaTextureObject_t object, NUNA_UNPACK parameters) {              \
    return __nuna_sample<T>(object, __VA_ARGS__);                                       \
  }                                                                                     \
  template <class T>                                                                    \
  NUNA_DEVICE void name(T* value, cudaTextureObject_t object, NUNA_UNPACK parameters) { \
    *value = name<T>(object, NUNA_UNPACK names);                                        \
  }
NUNA_FETCH(tex1D, (float x), (x), 1, x, 0.0f, 0.0f, -1)
NUNA_FETCH(tex2D, (float x, float y), (x, y), 2, x, y, 0.0f, -1)
NUNA_FETCH(tex3D, (float x, float y, float z), (x, y, z), 3, x, y, z, -1)
NUNA_FETCH(tex1DLayered, (float x, int layer), (x, layer), 1, x, 0.0f, 0.0f, layer < 0 ? 0 : layer)
NUNA_FETCH(tex2DLayered, (float x, float y, int layer), (x, y, layer), 2, x, y, 0.0f, layer < 0 ? 0 : layer)
NUNA_FETCH(tex1DLod, (float x, float), (x, 0.0f), 1, x, 0.0f, 0.0f, -1)
NUNA_FETCH(tex2DLod, (float x, float y, float), (x, y, 0.0f), 2, x, y, 0.0f, -1)
NUNA_FETCH(tex3DLod, (float x, float y, float z, float), (x, y, z, 0.0f), 3, x, y, z, -1)
#undef NUNA_FETCH
#undef NUNA_UNPACK

/* The face that a direction meets, +x -x +y -y +z -z, and where. */
template <class T>
NUNA_DEVICE T texCubemapLayered(cudaTextureObject_t object, float x, float y, float z, int layer) {
  const float ax = __builtin_fabsf(x), ay = __builtin_fabsf(y), az = __builtin_fabsf(z);
  const int axis = ax >= ay && ax >= az ? 0 : ay >= az ? 1 : 2;
  const float major = axis == 0 ? x : axis == 1 ? y : z;
  const bool negative = major < 0.0f;
  const float s = axis == 0 ? (negative ? z : -z) : axis == 1 ? x : negative ? -x : x;
  const float t = axis == 1 ? (negative ? -z : z) : -y;
  const float size = __builtin_fabsf(major);
  return __nuna_sample<T>(object, 2, (s / size + 1.0f) * 0.5f, (t / size + 1.0f) * 0.5f, 0.0f,
                          layer * 6 + axis * 2 + (negative ? 1 : 0));
}
template <class T>
NUNA_DEVICE T texCubemap(cudaTextureObject_t object, float x, float y, float z) {
  return texCubemapLayered<T>(object, x, y, z, 0);
}
