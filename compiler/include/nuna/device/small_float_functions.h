/* CUDA's functions on a 16-bit floating type and its pair, by the macros of small_float_type.h. Each operation is done in float and
 * rounded once, which is exact for + - * / and sqrt; fma goes through double. No guard: included once for each type. */

#define NUNA_F(x) ((float)(x))

#define NUNA_BINARY(name, expression)                                      \
  NUNA_SMALL NUNA_T name(NUNA_T a, NUNA_T b) { return NUNA_T(expression); } \
  NUNA_SMALL NUNA_T2 name##2(NUNA_T2 a, NUNA_T2 b) { return NUNA_T2(name(a.x, b.x), name(a.y, b.y)); }
#define NUNA_SATURATE(x) ((x) > 0.0f ? ((x) < 1.0f ? (x) : 1.0f) : 0.0f)
NUNA_BINARY(__hadd, NUNA_F(a) + NUNA_F(b))
NUNA_BINARY(__hsub, NUNA_F(a) - NUNA_F(b))
NUNA_BINARY(__hmul, NUNA_F(a) * NUNA_F(b))
NUNA_SMALL NUNA_T __hdiv(NUNA_T a, NUNA_T b) { return NUNA_T(NUNA_F(a) / NUNA_F(b)); }
NUNA_SMALL NUNA_T2 __h2div(NUNA_T2 a, NUNA_T2 b) { return NUNA_T2(__hdiv(a.x, b.x), __hdiv(a.y, b.y)); }
NUNA_BINARY(__hmax, __builtin_fmaxf(NUNA_F(a), NUNA_F(b)))
NUNA_BINARY(__hmin, __builtin_fminf(NUNA_F(a), NUNA_F(b)))
NUNA_BINARY(__hmax_nan, NUNA_F(a) != NUNA_F(a) ? NUNA_F(a) : NUNA_F(b) != NUNA_F(b) ? NUNA_F(b) : __builtin_fmaxf(NUNA_F(a), NUNA_F(b)))
NUNA_BINARY(__hmin_nan, NUNA_F(a) != NUNA_F(a) ? NUNA_F(a) : NUNA_F(b) != NUNA_F(b) ? NUNA_F(b) : __builtin_fminf(NUNA_F(a), NUNA_F(b)))
#undef NUNA_BINARY

#define NUNA_VARIANTS(op)                                                                                      \
  NUNA_SMALL NUNA_T __h##op##_rn(NUNA_T a, NUNA_T b) { return __h##op(a, b); }                                  \
  NUNA_SMALL NUNA_T2 __h##op##2_rn(NUNA_T2 a, NUNA_T2 b) { return __h##op##2(a, b); }                           \
  NUNA_SMALL NUNA_T __h##op##_sat(NUNA_T a, NUNA_T b) { return NUNA_T(NUNA_SATURATE(NUNA_F(__h##op(a, b)))); }   \
  NUNA_SMALL NUNA_T2 __h##op##2_sat(NUNA_T2 a, NUNA_T2 b) {                                                     \
    return NUNA_T2(__h##op##_sat(a.x, b.x), __h##op##_sat(a.y, b.y));                                           \
  }
NUNA_VARIANTS(add)
NUNA_VARIANTS(sub)
NUNA_VARIANTS(mul)
#undef NUNA_VARIANTS

NUNA_SMALL NUNA_T __hfma(NUNA_T a, NUNA_T b, NUNA_T c) {
  return NUNA_T((double)NUNA_F(a) * (double)NUNA_F(b) + (double)NUNA_F(c));
}
NUNA_SMALL NUNA_T __hfma_sat(NUNA_T a, NUNA_T b, NUNA_T c) { return NUNA_T(NUNA_SATURATE(NUNA_F(__hfma(a, b, c)))); }
NUNA_SMALL NUNA_T __hfma_relu(NUNA_T a, NUNA_T b, NUNA_T c) { return NUNA_T(__builtin_fmaxf(NUNA_F(__hfma(a, b, c)), 0.0f)); }
NUNA_SMALL NUNA_T2 __hfma2(NUNA_T2 a, NUNA_T2 b, NUNA_T2 c) { return NUNA_T2(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)); }
NUNA_SMALL NUNA_T2 __hfma2_sat(NUNA_T2 a, NUNA_T2 b, NUNA_T2 c) {
  return NUNA_T2(__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y));
}
#undef NUNA_SATURATE

#define NUNA_UNARY(name, name2, expression)                          \
  NUNA_SMALL NUNA_T name(NUNA_T a) { return NUNA_T(expression); }    \
  NUNA_SMALL NUNA_T2 name2(NUNA_T2 a) { return NUNA_T2(name(a.x), name(a.y)); }
NUNA_UNARY(__hneg, __hneg2, -NUNA_F(a))
NUNA_UNARY(__habs, __habs2, __builtin_fabsf(NUNA_F(a)))
NUNA_UNARY(hsqrt, h2sqrt, __builtin_sqrtf(NUNA_F(a)))
NUNA_UNARY(hrsqrt, h2rsqrt, 1.0f / __builtin_sqrtf(NUNA_F(a)))
NUNA_UNARY(hrcp, h2rcp, 1.0f / NUNA_F(a))
NUNA_UNARY(hexp, h2exp, __builtin_expf(NUNA_F(a)))
NUNA_UNARY(hexp2, h2exp2, __builtin_exp2f(NUNA_F(a)))
NUNA_UNARY(hexp10, h2exp10, __builtin_powf(10.0f, NUNA_F(a)))
NUNA_UNARY(hlog, h2log, __builtin_logf(NUNA_F(a)))
NUNA_UNARY(hlog2, h2log2, __builtin_log2f(NUNA_F(a)))
NUNA_UNARY(hlog10, h2log10, __builtin_log10f(NUNA_F(a)))
NUNA_UNARY(hsin, h2sin, __builtin_sinf(NUNA_F(a)))
NUNA_UNARY(hcos, h2cos, __builtin_cosf(NUNA_F(a)))
NUNA_UNARY(htanh, h2tanh, __builtin_tanhf(NUNA_F(a)))
NUNA_UNARY(hfloor, h2floor, __builtin_floorf(NUNA_F(a)))
NUNA_UNARY(hceil, h2ceil, __builtin_ceilf(NUNA_F(a)))
NUNA_UNARY(htrunc, h2trunc, __builtin_truncf(NUNA_F(a)))
NUNA_UNARY(hrint, h2rint, __builtin_rintf(NUNA_F(a)))
#undef NUNA_UNARY

NUNA_SMALL bool __hisnan(NUNA_T a) { return NUNA_F(a) != NUNA_F(a); }
NUNA_SMALL int __hisinf(NUNA_T a) { return __builtin_isinf(NUNA_F(a)) ? (NUNA_F(a) < 0 ? -1 : 1) : 0; }
NUNA_SMALL NUNA_T2 __hisnan2(NUNA_T2 a) { return NUNA_T2(NUNA_T(__hisnan(a.x) ? 1.0f : 0.0f), NUNA_T(__hisnan(a.y) ? 1.0f : 0.0f)); }

/* Ordered comparisons and, with u, those that hold for NaN; of pairs as 1 or 0 each, and whether both hold. */
#define NUNA_COMPARE_ONE(name, all, expression)                                                             \
  NUNA_SMALL bool __h##name(NUNA_T a, NUNA_T b) { return expression; }                                      \
  NUNA_SMALL NUNA_T2 __h##name##2(NUNA_T2 a, NUNA_T2 b) {                                                   \
    return NUNA_T2(NUNA_T(__h##name(a.x, b.x) ? 1.0f : 0.0f), NUNA_T(__h##name(a.y, b.y) ? 1.0f : 0.0f));   \
  }                                                                                                         \
  NUNA_SMALL bool all(NUNA_T2 a, NUNA_T2 b) { return __h##name(a.x, b.x) && __h##name(a.y, b.y); }
#define NUNA_COMPARE(name, op)                                                                        \
  NUNA_COMPARE_ONE(name, __hb##name##2, !__builtin_isunordered(NUNA_F(a), NUNA_F(b)) && NUNA_F(a) op NUNA_F(b)) \
  NUNA_COMPARE_ONE(name##u, __hb##name##u2, __builtin_isunordered(NUNA_F(a), NUNA_F(b)) || NUNA_F(a) op NUNA_F(b))
NUNA_COMPARE(eq, ==)
NUNA_COMPARE(ne, !=)
NUNA_COMPARE(lt, <)
NUNA_COMPARE(le, <=)
NUNA_COMPARE(gt, >)
NUNA_COMPARE(ge, >=)
#undef NUNA_COMPARE
#undef NUNA_COMPARE_ONE

#define NUNA_ARITHMETIC(op, name, name2)                                                              \
  NUNA_SMALL NUNA_T operator op(const NUNA_T& a, const NUNA_T& b) { return name(a, b); }              \
  NUNA_SMALL NUNA_T2 operator op(const NUNA_T2& a, const NUNA_T2& b) { return name2(a, b); }          \
  NUNA_SMALL NUNA_T& operator op##=(NUNA_T& a, const NUNA_T& b) { return a = name(a, b); }            \
  NUNA_SMALL NUNA_T2& operator op##=(NUNA_T2& a, const NUNA_T2& b) { return a = name2(a, b); }
NUNA_ARITHMETIC(+, __hadd, __hadd2)
NUNA_ARITHMETIC(-, __hsub, __hsub2)
NUNA_ARITHMETIC(*, __hmul, __hmul2)
NUNA_ARITHMETIC(/, __hdiv, __h2div)
#undef NUNA_ARITHMETIC
#define NUNA_RELATION(op, all)                                                                        \
  NUNA_SMALL bool operator op(const NUNA_T& a, const NUNA_T& b) { return NUNA_F(a) op NUNA_F(b); }    \
  NUNA_SMALL bool operator op(const NUNA_T2& a, const NUNA_T2& b) { return all(a, b); }
NUNA_RELATION(==, __hbeq2)
NUNA_RELATION(!=, __hbneu2)
NUNA_RELATION(<, __hblt2)
NUNA_RELATION(<=, __hble2)
NUNA_RELATION(>, __hbgt2)
NUNA_RELATION(>=, __hbge2)
#undef NUNA_RELATION
NUNA_SMALL NUNA_T operator-(const NUNA_T& a) { return __hneg(a); }
NUNA_SMALL NUNA_T operator+(const NUNA_T& a) { return a; }
NUNA_SMALL NUNA_T2 operator-(const NUNA_T2& a) { return __hneg2(a); }
NUNA_SMALL NUNA_T& operator++(NUNA_T& a) { return a = a + NUNA_T(1.0f); }
NUNA_SMALL NUNA_T& operator--(NUNA_T& a) { return a = a - NUNA_T(1.0f); }

/* Pairs. */
NUNA_SMALL float __low2float(NUNA_T2 a) { return NUNA_F(a.x); }
NUNA_SMALL float __high2float(NUNA_T2 a) { return NUNA_F(a.y); }

#ifdef NUNA_CUDA_MODE
#define NUNA_SHUFFLE(name, By)                                                                              \
  NUNA_DEVICE NUNA_T name(unsigned mask, NUNA_T value, By by, int width = 32) {                             \
    return __builtin_bit_cast(NUNA_T, (unsigned short)name(mask, (unsigned)value.__x, by, width));          \
  }                                                                                                         \
  NUNA_DEVICE NUNA_T2 name(unsigned mask, NUNA_T2 value, By by, int width = 32) {                           \
    return __builtin_bit_cast(NUNA_T2, name(mask, __builtin_bit_cast(unsigned, value), by, width));         \
  }
NUNA_SHUFFLE(__shfl_sync, int)
NUNA_SHUFFLE(__shfl_up_sync, unsigned)
NUNA_SHUFFLE(__shfl_down_sync, unsigned)
NUNA_SHUFFLE(__shfl_xor_sync, int)
#undef NUNA_SHUFFLE

#define NUNA_ATOMIC_ADD(T, Bits)                                                                              \
  NUNA_DEVICE T atomicAdd(T* address, T value) {                                                              \
    Bits old = __atomic_load_n((Bits*)address, __ATOMIC_RELAXED);                                             \
    while (!__atomic_compare_exchange_n((Bits*)address, &old,                                                 \
                                        __builtin_bit_cast(Bits, __builtin_bit_cast(T, old) + value), true,   \
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))                                  \
      ;                                                                                                       \
    return __builtin_bit_cast(T, old);                                                                        \
  }
NUNA_ATOMIC_ADD(NUNA_T, unsigned short)
NUNA_ATOMIC_ADD(NUNA_T2, unsigned)
#undef NUNA_ATOMIC_ADD
#endif

#undef NUNA_F
