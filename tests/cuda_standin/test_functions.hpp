#pragma once
// Functions that both nvcc and the host's compiler compile: the stand-in must compute the same bits. They avoid what
// C++ leaves open (overflow of signed integers, division by zero, conversions out of range).

#include <cmath>
#include <cstdint>
#include <cstdlib>

#if defined(__CUDACC__)
#define STANDIN_BOTH __host__ __device__
#else
#define STANDIN_BOTH
#endif

/// X(name, operand type, result type, expression of a and b)
#define STANDIN_FLOAT_FUNCTIONS(X)                                                                          \
  X(add_f32, float, float, a + b)                                                                           \
  X(sub_f32, float, float, a - b)                                                                           \
  X(mul_f32, float, float, a* b)                                                                            \
  X(div_f32, float, float, a / b)                                                                           \
  X(fma_f32, float, float, std::fma(a, b, a))                                                               \
  X(madd_f32, float, float, a* b + a)                                                                       \
  X(sqrt_f32, float, float, std::sqrt(std::fabs(a)))                                                        \
  X(min_f32, float, float, std::fmin(a, b) + 0)                                                             \
  X(max_f32, float, float, std::fmax(a, b) + 0)                                                             \
  X(abs_f32, float, float, std::fabs(a))                                                                    \
  X(neg_f32, float, float, -a)                                                                              \
  X(sign_f32, float, float, std::copysign(a, b))                                                            \
  X(floor_f32, float, float, std::floor(a))                                                                 \
  X(ceil_f32, float, float, std::ceil(a))                                                                   \
  X(trunc_f32, float, float, std::trunc(a))                                                                 \
  X(rint_f32, float, float, std::rint(a))                                                                   \
  X(widen_f32, float, double, static_cast<double>(a) * static_cast<double>(b))                              \
  X(less_f32, float, int, (a < b ? 1 : 0) + (a <= b ? 2 : 0) + (a == b ? 4 : 0) + (a != b ? 8 : 0))         \
  X(not_less_f32, float, int, (!(a < b) ? 1 : 0) + (!(a >= b) ? 2 : 0) + (a > b || b > 1 ? 4 : 0))          \
  X(finite_f32, float, int, (std::isfinite(a) ? 1 : 0) + (std::isnan(b) ? 2 : 0) + (std::isinf(a) ? 4 : 0)) \
  X(add_f64, double, double, a + b)                                                                         \
  X(sub_f64, double, double, a - b)                                                                         \
  X(mul_f64, double, double, a* b)                                                                          \
  X(div_f64, double, double, a / b)                                                                         \
  X(fma_f64, double, double, std::fma(a, b, b))                                                             \
  X(sqrt_f64, double, double, std::sqrt(std::fabs(b)))                                                      \
  X(min_f64, double, double, std::fmin(a, b) + 0)                                                           \
  X(abs_f64, double, double, std::fabs(a) - std::fabs(b))                                                   \
  X(narrow_f64, double, float, static_cast<float>(a))                                                       \
  X(rint_f64, double, double, std::rint(a) + std::floor(b))                                                 \
  X(less_f64, double, int, (a < b ? 1 : 0) + (a >= b ? 2 : 0) + (a == b ? 4 : 0) + (a != b ? 8 : 0))

#define STANDIN_INTEGER_FUNCTIONS(X)                                                                     \
  X(add_u32, std::uint32_t, std::uint32_t, a + b)                                                        \
  X(mul_u32, std::uint32_t, std::uint32_t, a* b - (a ^ ~b))                                              \
  X(wide_u32, std::uint32_t, std::uint64_t, std::uint64_t{a} * b)                                        \
  X(div_u32, std::uint32_t, std::uint32_t, a / (b | 1) + a % (b | 1))                                    \
  X(div7_u32, std::uint32_t, std::uint32_t, a / 7 + b % 10)                                              \
  X(shift_u32, std::uint32_t, std::uint32_t, (a << (b & 31)) | (b >> (a & 31)))                          \
  X(rotate_u32, std::uint32_t, std::uint32_t, a << (b & 31) | a >> ((32 - (b & 31)) & 31))               \
  X(bytes_u32, std::uint32_t, std::uint32_t, (a & 0xff00ffu) << 8 | (b >> 8 & 0xff00ffu))                \
  X(less_u32, std::uint32_t, std::uint32_t, (a < b ? 1u : 0u) | (a >= b ? 2u : 0u) | (a == b ? 4u : 0u)) \
  X(logic_u32, std::uint32_t, std::uint32_t, (a & b) ^ (~a | b) ^ (a & ~b))                              \
  X(div_s32, std::int32_t, std::int32_t, (a >> 1) / (b | 1) + (a >> 1) % (b | 1))                        \
  X(shift_s32, std::int32_t, std::int32_t, (a >> (b & 31)) ^ (b >> 3))                                   \
  X(wide_s32, std::int32_t, std::int64_t, std::int64_t{a} * b)                                           \
  X(min_s32, std::int32_t, std::int32_t, (a < b ? a : b) ^ (a < 0 ? 7 : 9))                              \
  X(abs_s32, std::int32_t, std::int32_t, std::abs(a >> 1))                                               \
  X(float_s32, std::int32_t, float, static_cast<float>(a) + static_cast<float>(b))                       \
  X(double_s32, std::int32_t, double, static_cast<double>(a) * static_cast<double>(b))                   \
  X(char_s32, std::int32_t, std::int32_t, static_cast<signed char>(a) * static_cast<unsigned char>(b))   \
  X(short_s32, std::int32_t, std::int32_t, static_cast<short>(a) / (static_cast<unsigned short>(b) | 1)) \
  X(add_u64, std::uint64_t, std::uint64_t, a + b * 3)                                                    \
  X(mul_u64, std::uint64_t, std::uint64_t, a* b)                                                         \
  X(div_u64, std::uint64_t, std::uint64_t, a / (b | 1) + a % (b | 1))                                    \
  X(div10_u64, std::uint64_t, std::uint64_t, a / 10 + b % 1000)                                          \
  X(shift_u64, std::uint64_t, std::uint64_t, (a << (b & 63)) ^ (b >> (a & 63)))                          \
  X(float_u64, std::uint64_t, float, static_cast<float>(a))                                              \
  X(double_u64, std::uint64_t, double, static_cast<double>(b))                                           \
  X(div_s64, std::int64_t, std::int64_t, (a >> 1) / (b | 1) - (a >> 1) % (b | 1))                        \
  X(abs_s64, std::int64_t, std::int64_t, std::abs(a >> 1) + (std::abs(b >> 1) >> 1))                     \
  X(less_s64, std::int64_t, int, (a < b ? 1 : 0) + (a <= b ? 2 : 0) + (a > 0 && b < 0 ? 4 : 0))          \
  X(float_s64, std::int64_t, float, static_cast<float>(a))                                               \
  X(mul_s16, std::int16_t, std::int16_t, static_cast<std::int16_t>(a * 3 + b))                           \
  X(less_s8, std::int8_t, std::int8_t, static_cast<std::int8_t>(a < b ? a : b + 1))

#define STANDIN_FUNCTIONS(X) STANDIN_FLOAT_FUNCTIONS(X) STANDIN_INTEGER_FUNCTIONS(X)

#define STANDIN_DEFINE(name, Operand, Result, expression) \
  struct name##_function {                                \
    using operand = Operand;                              \
    using result = Result;                                \
    STANDIN_BOTH static Result of(Operand a, Operand b) { \
      (void)a, (void)b;                                   \
      return static_cast<Result>(expression);             \
    }                                                     \
  };
STANDIN_FUNCTIONS(STANDIN_DEFINE)
#undef STANDIN_DEFINE

/// Branches through a table.
STANDIN_BOTH inline long chosen(unsigned which, long x) {
  long y = 5;
  for (unsigned step = 0; step < 3; ++step) {
    switch ((which + step * 5) % 13) {
      case 0:
        x = x + 1;
        y += 1;
        break;
      case 1:
        x = x * 3 - y;
        y += 4;
        break;
      case 2:
        x = x ^ 0x55;
        y += 7;
        break;
      case 3:
        x = y - x;
        y += 10;
        break;
      case 4:
        x = x << 2;
        y += 13;
        break;
      case 5:
        x = x >> 1;
        y += 16;
        break;
      case 6:
        x = x & 0xff0f;
        y += 19;
        break;
      case 7:
        x = x | y;
        y += 22;
        break;
      case 8:
        x = x % 7;
        y += 25;
        break;
      case 9:
        x = x / 3;
        y += 28;
        break;
      case 10:
        x = y * y;
        y += 31;
        break;
      case 11:
        x = x - 100;
        y += 34;
        break;
      default:
        y = 0;
        break;
    }
  }
  return x * 1000 + y;
}

/// An array whose elements are chosen at run time.
STANDIN_BOTH inline unsigned from_local_array(unsigned x) {
  unsigned table[16];
  for (unsigned i = 0; i < 16; ++i) table[(i * 7 + x) % 16] = i * x + 3;
  unsigned sum = 0;
  for (unsigned i = 0; i < 16; ++i) sum = sum * 31 + table[(i + (x >> 3)) % 16];
  return sum;
}

/// A nest of values as a tuple makes one, of 3 KiB.
template <class Head, class Tail>
struct Nest {
  Head head;
  Tail tail;
};
struct Table {
  double values[300];
  short shorts[200];
};
using Closure = Nest<char, Nest<Table, Nest<long, Nest<unsigned char, float>>>>;
STANDIN_BOTH inline double of_closure(const Closure& c, int i) {
  return c.tail.head.values[i % 300] * static_cast<double>(c.tail.tail.head) + c.tail.head.shorts[i % 200] +
         c.head + c.tail.tail.tail.head + static_cast<double>(c.tail.tail.tail.tail);
}
static_assert(sizeof(Closure) > 2800 && sizeof(Closure) < 4000);
