#pragma once
/* make_<vector type>, on both sides, for C too. */

#include "vector_types.h"

#define NUNA_MAKE static __inline__ __attribute__((always_inline, unused)) __host__ __device__
#define NUNA_MAKE_1(name, type)              \
  NUNA_MAKE name##1 make_##name##1(type x) { \
    name##1 v;                               \
    v.x = x;                                 \
    return v;                                \
  }
#define NUNA_MAKE_2(name, type)                      \
  NUNA_MAKE name##2 make_##name##2(type x, type y) { \
    name##2 v;                                       \
    v.x = x;                                         \
    v.y = y;                                         \
    return v;                                        \
  }
#define NUNA_MAKE_3(name, type)                              \
  NUNA_MAKE name##3 make_##name##3(type x, type y, type z) { \
    name##3 v;                                               \
    v.x = x;                                                 \
    v.y = y;                                                 \
    v.z = z;                                                 \
    return v;                                                \
  }
#define NUNA_MAKE_4(name, suffix, type)                                              \
  NUNA_MAKE name##4##suffix make_##name##4##suffix(type x, type y, type z, type w) { \
    name##4##suffix v;                                                               \
    v.x = x;                                                                         \
    v.y = y;                                                                         \
    v.z = z;                                                                         \
    v.w = w;                                                                         \
    return v;                                                                        \
  }
#define NUNA_MAKE_ALL(name, type) \
  NUNA_MAKE_1(name, type)         \
  NUNA_MAKE_2(name, type) NUNA_MAKE_3(name, type) NUNA_MAKE_4(name, , type)

NUNA_MAKE_ALL(char, signed char)
NUNA_MAKE_ALL(uchar, unsigned char)
NUNA_MAKE_ALL(short, short)
NUNA_MAKE_ALL(ushort, unsigned short)
NUNA_MAKE_ALL(int, int)
NUNA_MAKE_ALL(uint, unsigned int)
NUNA_MAKE_ALL(long, long int)
NUNA_MAKE_ALL(ulong, unsigned long int)
NUNA_MAKE_ALL(longlong, long long int)
NUNA_MAKE_ALL(ulonglong, unsigned long long int)
NUNA_MAKE_ALL(float, float)
NUNA_MAKE_ALL(double, double)
NUNA_MAKE_4(long, _16a, long int)
NUNA_MAKE_4(long, _32a, long int)
NUNA_MAKE_4(ulong, _16a, unsigned long int)
NUNA_MAKE_4(ulong, _32a, unsigned long int)
NUNA_MAKE_4(longlong, _16a, long long int)
NUNA_MAKE_4(longlong, _32a, long long int)
NUNA_MAKE_4(ulonglong, _16a, unsigned long long int)
NUNA_MAKE_4(ulonglong, _32a, unsigned long long int)
NUNA_MAKE_4(double, _16a, double)
NUNA_MAKE_4(double, _32a, double)

#undef NUNA_MAKE
#undef NUNA_MAKE_1
#undef NUNA_MAKE_2
#undef NUNA_MAKE_3
#undef NUNA_MAKE_4
#undef NUNA_MAKE_ALL
