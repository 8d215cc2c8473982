#pragma once
// A result of PTX beside that of C++ of the same meaning.

#include <cstdint>
#include <cstdio>

using u32 = unsigned;
using s32 = int;
using u64 = unsigned long long;
using s64 = long long;

__device__ int checks = 0;
__device__ int failures = 0;

template <class T>
__device__ u64 bits_of(T value) {
  if constexpr (sizeof(T) == 8) return __builtin_bit_cast(u64, value);
  if constexpr (sizeof(T) == 4) return __builtin_bit_cast(u32, value);
  if constexpr (sizeof(T) == 2) return __builtin_bit_cast(unsigned short, value);
  if constexpr (sizeof(T) == 1) return __builtin_bit_cast(unsigned char, value);
}

template <class T>
__device__ void same(const char* text, T found, T wanted) {
  atomicAdd(&checks, 1);
  const bool both_nan = found != found && wanted != wanted;
  if (both_nan || bits_of(found) == bits_of(wanted)) return;
  if (atomicAdd(&failures, 1) < 20)
    printf("thread %u: %s: %llx, not %llx\n", threadIdx.x, text, bits_of(found), bits_of(wanted));
}

/* One result out of inputs of its own type, or of others. */
#define CHECK_1(text, c, T, a, wanted) \
  do {                                 \
    T found;                           \
    asm(text : "=" c(found) : c(a));   \
    same<T>(text, found, wanted);      \
  } while (0)
#define CHECK_2(text, c, T, a, b, wanted)  \
  do {                                     \
    T found;                               \
    asm(text : "=" c(found) : c(a), c(b)); \
    same<T>(text, found, wanted);          \
  } while (0)
#define CHECK_3(text, c, T, a, b, d, wanted)     \
  do {                                           \
    T found;                                     \
    asm(text : "=" c(found) : c(a), c(b), c(d)); \
    same<T>(text, found, wanted);                \
  } while (0)
#define CHECK_OF(text, c, T, c_in, a, wanted) \
  do {                                        \
    T found;                                  \
    asm(text : "=" c(found) : c_in(a));       \
    same<T>(text, found, wanted);             \
  } while (0)

/* Numbers that are special to some instruction, then others. */
__device__ inline u64 number(unsigned thread, unsigned round) {
  const u64 special[] = {0,  1,  ~0ull, 0x8000000080000000ull, 0x7fffffff7fffffffull, 32,
                         31, 33, 64,    0xffffffffull};
  const unsigned n = sizeof special / sizeof *special;
  const unsigned k = thread + 64 * round;
  if (k < n * n) return special[round % 2 == 0 ? k % n : k / n];
  u64 x = (k + 1) * 0x9e3779b97f4a7c15ull;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return (x ^ x >> 31) >> (k % 5 == 0 ? 56 : k % 5 == 1 ? 32 : 0);
}
