#pragma once
/* The channels of texels of C++ types: cudaCreateChannelDesc<float4>(). */

#include "cuda_runtime_api.h"

#ifdef __cplusplus

namespace nuna_cudart {

template <class T>
constexpr cudaChannelFormatDesc channels(int number, cudaChannelFormatKind kind) {
  const int bits = static_cast<int>(sizeof(T) * 8);
  return {bits, number > 1 ? bits : 0, number > 2 ? bits : 0, number > 3 ? bits : 0, kind};
}

template <class T>
struct ChannelDesc {
  static cudaChannelFormatDesc get() { return {0, 0, 0, 0, cudaChannelFormatKindNone}; }
};

#define NUNA_CHANNELS(type, component, number, kind)                                 \
  template <>                                                                        \
  struct ChannelDesc<type> {                                                         \
    static cudaChannelFormatDesc get() { return channels<component>(number, kind); } \
  };
#define NUNA_VECTOR_CHANNELS(name, component, kind) \
  NUNA_CHANNELS(name##1, component, 1, kind)        \
  NUNA_CHANNELS(name##2, component, 2, kind)        \
  NUNA_CHANNELS(name##3, component, 3, kind)        \
  NUNA_CHANNELS(name##4, component, 4, kind)

NUNA_CHANNELS(char, char, 1, cudaChannelFormatKindSigned)
NUNA_CHANNELS(signed char, signed char, 1, cudaChannelFormatKindSigned)
NUNA_CHANNELS(unsigned char, unsigned char, 1, cudaChannelFormatKindUnsigned)
NUNA_CHANNELS(short, short, 1, cudaChannelFormatKindSigned)
NUNA_CHANNELS(unsigned short, unsigned short, 1, cudaChannelFormatKindUnsigned)
NUNA_CHANNELS(int, int, 1, cudaChannelFormatKindSigned)
NUNA_CHANNELS(unsigned int, unsigned int, 1, cudaChannelFormatKindUnsigned)
NUNA_CHANNELS(float, float, 1, cudaChannelFormatKindFloat)
NUNA_VECTOR_CHANNELS(char, signed char, cudaChannelFormatKindSigned)
NUNA_VECTOR_CHANNELS(uchar, unsigned char, cudaChannelFormatKindUnsigned)
NUNA_VECTOR_CHANNELS(short, short, cudaChannelFormatKindSigned)
NUNA_VECTOR_CHANNELS(ushort, unsigned short, cudaChannelFormatKindUnsigned)
NUNA_VECTOR_CHANNELS(int, int, cudaChannelFormatKindSigned)
NUNA_VECTOR_CHANNELS(uint, unsigned int, cudaChannelFormatKindUnsigned)
NUNA_VECTOR_CHANNELS(float, float, cudaChannelFormatKindFloat)

#undef NUNA_VECTOR_CHANNELS
#undef NUNA_CHANNELS

}  // namespace nuna_cudart

template <class T>
inline cudaChannelFormatDesc cudaCreateChannelDesc() {
  return nuna_cudart::ChannelDesc<T>::get();
}
static inline cudaChannelFormatDesc cudaCreateChannelDescHalf() {
  return {16, 0, 0, 0, cudaChannelFormatKindFloat};
}
static inline cudaChannelFormatDesc cudaCreateChannelDescHalf1() { return cudaCreateChannelDescHalf(); }
static inline cudaChannelFormatDesc cudaCreateChannelDescHalf2() {
  return {16, 16, 0, 0, cudaChannelFormatKindFloat};
}
static inline cudaChannelFormatDesc cudaCreateChannelDescHalf4() {
  return {16, 16, 16, 16, cudaChannelFormatKindFloat};
}

#endif
