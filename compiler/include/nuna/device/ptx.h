#pragma once
/* What inline PTX becomes where that is more than an instruction: codegen calls __nuna_ptx_bfe_u32 for bfe.u32, and so on for every
 * function here that is named as an instruction with its words and types. The names that codegen knows stand last. What is not
 * called is dropped. */

#include "nuna/device/convert.h"
#include "nuna/device/integer.h"
#include "nuna/device/io.h"
#include "nuna/device/rounded.h"
#include "nuna/device/sync.h"
#include "nuna/device/warp.h"

#ifdef __CUDA_ARCH__
/* ---- which lane a shuffle reads, as rules of __nuna_exchange (warp.h), of which `inside` is here what PTX says of segments */

NUNA_DEVICE int __nuna_ptx_last(unsigned lane, unsigned segments) {
  const unsigned names = segments >> 8 & 31u;
  return (int)((lane & names) | (segments & 31u & ~names));
}
#define NUNA_PTX_RULE(name, source_lane, comparison, slot)                                                  \
  struct __nuna_ptx_##name {                                                                                \
    NUNA_DEVICE int source(unsigned lane, unsigned by, unsigned segments) {                                 \
      (void)segments;                                                                                       \
      return (int)(source_lane);                                                                            \
    }                                                                                                       \
    NUNA_DEVICE bool inside(unsigned lane, unsigned by, unsigned segments) {                                \
      return source(lane, by, segments) comparison __nuna_ptx_last(lane, segments);                         \
    }                                                                                                       \
    template <class Bits>                                                                                   \
    NUNA_DEVICE __nuna_found<Bits> read(const Bits* slots, unsigned lane, unsigned by, unsigned segments) { \
      const int from = source(lane, by, segments);                                                          \
      return {slot, (unsigned)from, inside(lane, by, segments)};                                            \
    }                                                                                                       \
  };
NUNA_PTX_RULE(up, lane - by, >=, slots[(int)lane - (int)by])
NUNA_PTX_RULE(down, lane + by, <=, slots[lane + by])
NUNA_PTX_RULE(bfly, lane ^ by, <=, slots[from])
NUNA_PTX_RULE(idx, (lane & (segments >> 8)) | (by & ~(segments >> 8)), <=, slots[from & 31])
#undef NUNA_PTX_RULE

extern "C" {

#define NUNA_PTX __device__ inline __attribute__((used))
#define NUNA_PTX_WARP NUNA_PTX __attribute__((convergent))
typedef unsigned long long __nuna_u64;

/* ---- bits */

/* `amount` of the width or more leaves nothing. */
NUNA_DEVICE unsigned __nuna_up(unsigned x, unsigned amount) { return amount < 32u ? x << amount : 0u; }
NUNA_DEVICE __nuna_u64 __nuna_up64(__nuna_u64 x, unsigned amount) { return amount < 64u ? x << amount : 0u; }
NUNA_DEVICE unsigned __nuna_down(unsigned x, unsigned amount) { return amount < 32u ? x >> amount : 0u; }
NUNA_DEVICE __nuna_u64 __nuna_down64(__nuna_u64 x, unsigned amount) {
  return amount < 64u ? x >> amount : 0u;
}

/* A field of `length` bits from bit `from` on; of signed numbers its highest bit, or that of x where the field reaches beyond, is
 * the sign. Both counts are bytes. */
#define NUNA_PTX_FIELDS(width, Word, Signed, up, down)                                       \
  NUNA_PTX Word __nuna_ptx_bfe_u##width(Word x, unsigned from, unsigned length) {            \
    return down(x, from & 255u) & (up(1, length & 255u) - 1u);                               \
  }                                                                                          \
  NUNA_PTX Signed __nuna_ptx_bfe_s##width(Signed x, unsigned from, unsigned length) {        \
    const unsigned start = (from & 255u) < width - 1u ? (from & 255u) : width - 1u;          \
    const unsigned count = (length & 255u) < width ? (length & 255u) : width;                \
    const unsigned unused = width - count;                                                   \
    return count == 0 ? 0 : (Signed)((Word)(x >> start) << unused) >> unused;                \
  }                                                                                          \
  NUNA_PTX Word __nuna_ptx_bfi_b##width(Word x, Word into, unsigned from, unsigned length) { \
    const Word field = up(up(1, length & 255u) - 1u, from & 255u);                           \
    return (up(x, from & 255u) & field) | (into & ~field);                                   \
  }                                                                                          \
  NUNA_PTX Word __nuna_ptx_bmsk_clamp_b##width(unsigned from, unsigned length) {             \
    return up(up(1, length) - 1u, from);                                                     \
  }
NUNA_PTX_FIELDS(32, unsigned, int, __nuna_up, __nuna_down)
NUNA_PTX_FIELDS(64, __nuna_u64, long long, __nuna_up64, __nuna_down64)
#undef NUNA_PTX_FIELDS

/* `table` has a bit for each of the eight combinations of a bit of a, b and c. */
NUNA_PTX unsigned __nuna_ptx_lop3_b32(unsigned a, unsigned b, unsigned c, unsigned table) {
  unsigned result = 0;
  for (unsigned row = 0; row < 8; ++row) {
    const unsigned here = (row & 4u ? a : ~a) & (row & 2u ? b : ~b) & (row & 1u ? c : ~c);
    result |= table >> row & 1u ? here : 0u;
  }
  return result;
}

NUNA_PTX unsigned __nuna_ptx_shf_l_wrap_b32(unsigned low, unsigned high, unsigned by) {
  return __funnelshift_l(low, high, by);
}
NUNA_PTX unsigned __nuna_ptx_shf_l_clamp_b32(unsigned low, unsigned high, unsigned by) {
  return __funnelshift_lc(low, high, by);
}
NUNA_PTX unsigned __nuna_ptx_shf_r_wrap_b32(unsigned low, unsigned high, unsigned by) {
  return __funnelshift_r(low, high, by);
}
NUNA_PTX unsigned __nuna_ptx_shf_r_clamp_b32(unsigned low, unsigned high, unsigned by) {
  return __funnelshift_rc(low, high, by);
}

/* Four bytes of eight; the fourth bit of a selector asks for the byte's sign. */
NUNA_PTX unsigned __nuna_ptx_prmt_b32(unsigned a, unsigned b, unsigned selectors) {
  const __nuna_u64 bytes = (__nuna_u64)b << 32 | a;
  unsigned result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned selector = selectors >> 4 * i;
    const unsigned byte = (unsigned)(bytes >> (selector & 7u) * 8) & 255u;
    result |= (selector & 8u ? (0u - (byte >> 7)) & 255u : byte) << 8 * i;
  }
  return result;
}
#define NUNA_PTX_PRMT(mode, first, second, third, fourth)                                      \
  NUNA_PTX unsigned __nuna_ptx_prmt_##mode##_b32(unsigned a, unsigned b, unsigned c) {         \
    const unsigned n = c & 3u;                                                                 \
    return __nuna_ptx_prmt_b32(a, b, (first) | (second) << 4 | (third) << 8 | (fourth) << 12); \
  }
NUNA_PTX_PRMT(f4e, n, n + 1u, n + 2u, n + 3u)
NUNA_PTX_PRMT(b4e, n, (n + 7u) & 7u, (n + 6u) & 7u, (n + 5u) & 7u)
NUNA_PTX_PRMT(rc8, n, n, n, n)
NUNA_PTX_PRMT(ecl, n, (n > 1u ? n : 1u), (n > 2u ? n : 2u), 3u)
NUNA_PTX_PRMT(ecr, 0u, (n < 1u ? n : 1u), (n < 2u ? n : 2u), n)
NUNA_PTX_PRMT(rc16, 2u * (n & 1u), 2u * (n & 1u) + 1u, 2u * (n & 1u), 2u * (n & 1u) + 1u)
#undef NUNA_PTX_PRMT

NUNA_PTX unsigned __nuna_ptx_fns_b32(unsigned mask, unsigned base, int n) { return __fns(mask, base, n); }

/* ---- products */

#define NUNA_PTX_24(type, Word, product, high_product)                                              \
  NUNA_PTX Word __nuna_ptx_mul24_lo_##type(Word a, Word b) { return product; }                      \
  NUNA_PTX Word __nuna_ptx_mul24_hi_##type(Word a, Word b) { return (Word)((high_product) >> 16); } \
  NUNA_PTX Word __nuna_ptx_mad24_lo_##type(Word a, Word b, Word c) {                                \
    return (Word)((unsigned)(product) + (unsigned)c);                                               \
  }                                                                                                 \
  NUNA_PTX Word __nuna_ptx_mad24_hi_##type(Word a, Word b, Word c) {                                \
    return (Word)((unsigned)((high_product) >> 16) + (unsigned)c);                                  \
  }
NUNA_PTX_24(u32, unsigned, __umul24(a, b), (__nuna_u64)(a & 0xffffffu) * (b & 0xffffffu))
NUNA_PTX_24(s32, int, __mul24(a, b),
            (long long)((int)((unsigned)a << 8) >> 8) * ((int)((unsigned)b << 8) >> 8))
#undef NUNA_PTX_24

/* Dot products of bytes with bytes, and of halves with two of four bytes. */
#define NUNA_PTX_DOT(types, Result, A, B, Byte, Half, Other)                                      \
  NUNA_PTX Result __nuna_ptx_dp4a_##types(A a, B b, Result c) {                                   \
    unsigned sum = (unsigned)c;                                                                   \
    for (int i = 0; i < 4; ++i)                                                                   \
      sum += (unsigned)((int)(Byte)((unsigned)a >> 8 * i) * (int)(Other)((unsigned)b >> 8 * i));  \
    return (Result)sum;                                                                           \
  }                                                                                               \
  NUNA_PTX Result __nuna_ptx_dp2a_lo_##types(A a, B b, Result c) {                                \
    unsigned sum = (unsigned)c;                                                                   \
    for (int i = 0; i < 2; ++i)                                                                   \
      sum += (unsigned)((int)(Half)((unsigned)a >> 16 * i) * (int)(Other)((unsigned)b >> 8 * i)); \
    return (Result)sum;                                                                           \
  }                                                                                               \
  NUNA_PTX Result __nuna_ptx_dp2a_hi_##types(A a, B b, Result c) {                                \
    return __nuna_ptx_dp2a_lo_##types(a, (B)((unsigned)b >> 16), c);                              \
  }
NUNA_PTX_DOT(u32_u32, unsigned, unsigned, unsigned, unsigned char, unsigned short, unsigned char)
NUNA_PTX_DOT(s32_s32, int, int, int, signed char, short, signed char)
NUNA_PTX_DOT(s32_u32, int, int, unsigned, signed char, short, unsigned char)
NUNA_PTX_DOT(u32_s32, int, unsigned, int, unsigned char, unsigned short, signed char)
#undef NUNA_PTX_DOT

NUNA_PTX int __nuna_ptx_add_sat_s32(int a, int b) { return __builtin_elementwise_add_sat(a, b); }
NUNA_PTX int __nuna_ptx_sub_sat_s32(int a, int b) { return __builtin_elementwise_sub_sat(a, b); }

/* ---- real numbers that are not rounded to the nearest */

#define NUNA_PTX_ROUNDED_AS(mode, ours, type, Real)                                                    \
  NUNA_PTX Real __nuna_ptx_add_##mode##_##type(Real x, Real y) { return __nuna_add<ours>(x, y); }      \
  NUNA_PTX Real __nuna_ptx_sub_##mode##_##type(Real x, Real y) { return __nuna_add<ours>(x, -y); }     \
  NUNA_PTX Real __nuna_ptx_mul_##mode##_##type(Real x, Real y) { return __nuna_multiply<ours>(x, y); } \
  NUNA_PTX Real __nuna_ptx_div_##mode##_##type(Real x, Real y) { return __nuna_divide<ours>(x, y); }   \
  NUNA_PTX Real __nuna_ptx_rcp_##mode##_##type(Real x) { return __nuna_divide<ours>((Real)1, x); }     \
  NUNA_PTX Real __nuna_ptx_sqrt_##mode##_##type(Real x) { return __nuna_square_root<ours>(x); }        \
  NUNA_PTX Real __nuna_ptx_fma_##mode##_##type(Real x, Real y, Real z) {                               \
    return __nuna_multiply_add<ours>(x, y, z);                                                         \
  }
#define NUNA_PTX_ROUNDED(mode, ours, theirs)                                                       \
  NUNA_PTX_ROUNDED_AS(mode, ours, f32, float)                                                      \
  NUNA_PTX_ROUNDED_AS(mode, ours, f64, double)                                                     \
  NUNA_PTX float __nuna_ptx_cvt_##mode##_f32_f64(double x) { return __double2float_##theirs(x); }  \
  NUNA_PTX float __nuna_ptx_cvt_##mode##_f32_s32(int x) { return __int2float_##theirs(x); }        \
  NUNA_PTX float __nuna_ptx_cvt_##mode##_f32_u32(unsigned x) { return __uint2float_##theirs(x); }  \
  NUNA_PTX float __nuna_ptx_cvt_##mode##_f32_s64(long long x) { return __ll2float_##theirs(x); }   \
  NUNA_PTX float __nuna_ptx_cvt_##mode##_f32_u64(__nuna_u64 x) { return __ull2float_##theirs(x); } \
  NUNA_PTX double __nuna_ptx_cvt_##mode##_f64_s64(long long x) { return __ll2double_##theirs(x); } \
  NUNA_PTX double __nuna_ptx_cvt_##mode##_f64_u64(__nuna_u64 x) { return __ull2double_##theirs(x); }
NUNA_PTX_ROUNDED(rz, __nuna_rz, rz)
NUNA_PTX_ROUNDED(rm, __nuna_rd, rd)
NUNA_PTX_ROUNDED(rp, __nuna_ru, ru)
#undef NUNA_PTX_ROUNDED
#undef NUNA_PTX_ROUNDED_AS

NUNA_PTX float __nuna_ptx_tanh_f32(float x) { return __builtin_tanhf(x); }

/* ---- warps */

NUNA_PTX_WARP unsigned __nuna_ptx_activemask_b32() { return __activemask(); }
#define NUNA_PTX_VOTES(sync)                                                           \
  NUNA_PTX_WARP unsigned __nuna_ptx_vote_##sync##ballot_b32(bool yes, unsigned mask) { \
    return __ballot_sync(mask, yes);                                                   \
  }                                                                                    \
  NUNA_PTX_WARP bool __nuna_ptx_vote_##sync##any_pred(bool yes, unsigned mask) {       \
    return __any_sync(mask, yes) != 0;                                                 \
  }                                                                                    \
  NUNA_PTX_WARP bool __nuna_ptx_vote_##sync##all_pred(bool yes, unsigned mask) {       \
    return __all_sync(mask, yes) != 0;                                                 \
  }                                                                                    \
  NUNA_PTX_WARP bool __nuna_ptx_vote_##sync##uni_pred(bool yes, unsigned mask) {       \
    return __uni_sync(mask, yes) != 0;                                                 \
  }
NUNA_PTX_VOTES()
NUNA_PTX_VOTES(sync_)
#undef NUNA_PTX_VOTES

#define NUNA_PTX_MATCH(type, Word)                                                     \
  NUNA_PTX_WARP unsigned __nuna_ptx_match_sync_any_##type(Word value, unsigned mask) { \
    return __match_any_sync(mask, value);                                              \
  }                                                                                    \
  NUNA_PTX_WARP unsigned __nuna_ptx_match_sync_all_##type(Word value, unsigned mask) { \
    int same = 0;                                                                      \
    return __match_all_sync(mask, value, &same);                                       \
  }
NUNA_PTX_MATCH(b32, unsigned)
NUNA_PTX_MATCH(b64, __nuna_u64)
#undef NUNA_PTX_MATCH

#define NUNA_PTX_REDUX(name, type, Word)                                                \
  NUNA_PTX_WARP Word __nuna_ptx_redux_sync_##name##_##type(Word value, unsigned mask) { \
    return __reduce_##name##_sync(mask, value);                                         \
  }
NUNA_PTX_REDUX(add, u32, unsigned)
NUNA_PTX_REDUX(add, s32, int)
NUNA_PTX_REDUX(min, u32, unsigned)
NUNA_PTX_REDUX(min, s32, int)
NUNA_PTX_REDUX(max, u32, unsigned)
NUNA_PTX_REDUX(max, s32, int)
NUNA_PTX_REDUX(and, b32, unsigned)
NUNA_PTX_REDUX(or, b32, unsigned)
NUNA_PTX_REDUX(xor, b32, unsigned)
#undef NUNA_PTX_REDUX

/* ---- what codegen/ptx_*.cpp names */

/* Bits 0 to 4 of `segments` are the last lane of a segment, or the first of shfl.up; bits 8 to 12 which bits of a lane name its
 * segment. Out of its segment a lane reads itself. */
NUNA_PTX_WARP unsigned __nuna_asm_shuffle_up(unsigned mask, unsigned value, unsigned by, unsigned segments) {
  return __nuna_exchange<__nuna_ptx_up>(mask, value, by & 31u, (int)(segments + 1u));
}
NUNA_PTX_WARP unsigned __nuna_asm_shuffle_down(unsigned mask, unsigned value, unsigned by,
                                               unsigned segments) {
  return __nuna_exchange<__nuna_ptx_down>(mask, value, by & 31u, (int)(segments + 1u));
}
NUNA_PTX_WARP unsigned __nuna_asm_shuffle_bfly(unsigned mask, unsigned value, unsigned by,
                                               unsigned segments) {
  return __nuna_exchange<__nuna_ptx_bfly>(mask, value, by & 31u, (int)(segments + 1u));
}
NUNA_PTX_WARP unsigned __nuna_asm_shuffle_idx(unsigned mask, unsigned value, unsigned by, unsigned segments) {
  return __nuna_exchange<__nuna_ptx_idx>(mask, value, by & 31u, (int)(segments + 1u));
}
NUNA_PTX unsigned __nuna_asm_inside_up(unsigned by, unsigned segments) {
  return __nuna_ptx_up::inside(__nuna_lane(), by & 31u, segments);
}
NUNA_PTX unsigned __nuna_asm_inside_down(unsigned by, unsigned segments) {
  return __nuna_ptx_down::inside(__nuna_lane(), by & 31u, segments);
}
NUNA_PTX unsigned __nuna_asm_inside_bfly(unsigned by, unsigned segments) {
  return __nuna_ptx_bfly::inside(__nuna_lane(), by & 31u, segments);
}
NUNA_PTX unsigned __nuna_asm_inside_idx(unsigned by, unsigned segments) {
  return __nuna_ptx_idx::inside(__nuna_lane(), by & 31u, segments);
}

NUNA_PTX_WARP unsigned __nuna_asm_warp_barrier(unsigned mask) {
  return __nuna_warp_barrier(mask, NUNA_MEET_ONLY);
}
NUNA_PTX_WARP void __nuna_asm_barrier() { __nuna_barrier(); }
NUNA_PTX_WARP unsigned __nuna_asm_barrier_popc(unsigned yes) {
  return (unsigned)__syncthreads_count((int)yes);
}
NUNA_PTX_WARP unsigned __nuna_asm_barrier_and(unsigned yes) { return (unsigned)__syncthreads_and((int)yes); }
NUNA_PTX_WARP unsigned __nuna_asm_barrier_or(unsigned yes) { return (unsigned)__syncthreads_or((int)yes); }

NUNA_PTX void __nuna_asm_trap() { __trap(); }
NUNA_PTX void __nuna_asm_nanosleep() { __nanosleep(0); }
NUNA_PTX __nuna_u64 __nuna_asm_clock() { return (__nuna_u64)clock64(); }
__device__ int timespec_get(struct timespec* time, int base) noexcept;
NUNA_PTX __nuna_u64 __nuna_asm_globaltimer() {
  struct timespec now;
  timespec_get(&now, 1);
  return (__nuna_u64)now.tv_sec * 1000000000u + (__nuna_u64)now.tv_nsec;
}
NUNA_PTX unsigned __nuna_asm_warpid() {
  return ((__nuna_sreg(2) * __nuna_sreg(7) + __nuna_sreg(1)) * __nuna_sreg(6) + __nuna_sreg(0)) >> 5;
}
NUNA_PTX unsigned __nuna_asm_nwarpid() {
  return (__nuna_sreg(6) * __nuna_sreg(7) * __nuna_sreg(8) + 31u) >> 5;
}
NUNA_PTX unsigned __nuna_asm_dynamic_smem_size() { return (unsigned)__nuna_dynamic_shared_bytes(); }
/* An address in the block's shared memory. */
NUNA_PTX void* __nuna_asm_shared() { return __nuna_dynamic_shared(); }

#undef NUNA_PTX_WARP
#undef NUNA_PTX
}
#endif
