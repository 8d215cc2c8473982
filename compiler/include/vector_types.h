#pragma once

/* Programs ask for CUDA's own include guards to learn what is there. */
#ifndef __VECTOR_TYPES_H__
#define __VECTOR_TYPES_H__
#endif
/* CUDA's vector types: 1 to 4 components with CUDA's alignments, and dim3. For C too. */

#include "crt/host_defines.h"

#define NUNA_VECTOR_1(name, type, align)       \
  struct __align__(align) name##1 { type x; }; \
  typedef struct name##1 name##1;
#define NUNA_VECTOR_2(name, type, align)          \
  struct __align__(align) name##2 { type x, y; }; \
  typedef struct name##2 name##2;
#define NUNA_VECTOR_3(name, type, align)             \
  struct __align__(align) name##3 { type x, y, z; }; \
  typedef struct name##3 name##3;
#define NUNA_VECTOR_4(name, suffix, type, align)                \
  struct __align__(align) name##4##suffix { type x, y, z, w; }; \
  typedef struct name##4##suffix name##4##suffix;

/* The alignments of 1, 2, 3 and 4 components. */
#define NUNA_VECTORS(name, type, a1, a2, a3, a4) \
  NUNA_VECTOR_1(name, type, a1)                  \
  NUNA_VECTOR_2(name, type, a2) NUNA_VECTOR_3(name, type, a3) NUNA_VECTOR_4(name, , type, a4)

NUNA_VECTORS(char, signed char, 1, 2, 1, 4)
NUNA_VECTORS(uchar, unsigned char, 1, 2, 1, 4)
NUNA_VECTORS(short, short, 2, 4, 2, 8)
NUNA_VECTORS(ushort, unsigned short, 2, 4, 2, 8)
NUNA_VECTORS(int, int, 4, 8, 4, 16)
NUNA_VECTORS(uint, unsigned int, 4, 8, 4, 16)
NUNA_VECTORS(long, long int, 8, 16, 8, 16)
NUNA_VECTORS(ulong, unsigned long int, 8, 16, 8, 16)
NUNA_VECTORS(longlong, long long int, 8, 16, 8, 16)
NUNA_VECTORS(ulonglong, unsigned long long int, 8, 16, 8, 16)
NUNA_VECTORS(float, float, 4, 8, 4, 16)
NUNA_VECTORS(double, double, 8, 16, 8, 16)
NUNA_VECTOR_4(long, _16a, long int, 16)
NUNA_VECTOR_4(long, _32a, long int, 32)
NUNA_VECTOR_4(ulong, _16a, unsigned long int, 16)
NUNA_VECTOR_4(ulong, _32a, unsigned long int, 32)
NUNA_VECTOR_4(longlong, _16a, long long int, 16)
NUNA_VECTOR_4(longlong, _32a, long long int, 32)
NUNA_VECTOR_4(ulonglong, _16a, unsigned long long int, 16)
NUNA_VECTOR_4(ulonglong, _32a, unsigned long long int, 32)
NUNA_VECTOR_4(double, _16a, double, 16)
NUNA_VECTOR_4(double, _32a, double, 32)

#undef NUNA_VECTORS
#undef NUNA_VECTOR_1
#undef NUNA_VECTOR_2
#undef NUNA_VECTOR_3
#undef NUNA_VECTOR_4

struct dim3 {
  unsigned int x, y, z;
#ifdef __cplusplus
#if __cplusplus >= 201103L
  __host__ __device__ constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1)
      : x(vx), y(vy), z(vz) {}
  __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  __host__ __device__ constexpr operator uint3() const { return uint3{x, y, z}; }
#ifdef NUNA_CUDA_MODE
  /* threadIdx and its like, whose types are in device_launch_parameters.h. */
  template <class R, class = typename R::__nuna_sregs>
  __device__ __forceinline__ dim3(const R& r) : x(r.x), y(r.y), z(r.z) {}
#endif
#else
  __host__ __device__ dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1)
      : x(vx), y(vy), z(vz) {}
  __host__ __device__ dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  __host__ __device__ operator uint3() const {
    uint3 t = {x, y, z};
    return t;
  }
#endif
#endif
};
typedef struct dim3 dim3;
