// What computes a value out of values.
#include "check.hpp"

__device__ void arithmetic(u32 a, u32 b, u32 c) {
  const s32 sa = (s32)a, sb = (s32)b, sc = (s32)c;
  CHECK_2("add.u32 %0, %1, %2;", "r", u32, a, b, a + b);
  CHECK_2("sub.s32 %0, %1, %2;", "r", s32, sa, sb, (s32)(a - b));
  CHECK_2("mul.lo.s32 %0, %1, %2;", "r", s32, sa, sb, (s32)(a * b));
  CHECK_2("mul.hi.u32 %0, %1, %2;", "r", u32, a, b, __umulhi(a, b));
  CHECK_2("mul.hi.s32 %0, %1, %2;", "r", s32, sa, sb, __mulhi(sa, sb));
  CHECK_3("mad.lo.u32 %0, %1, %2, %3;", "r", u32, a, b, c, a * b + c);
  CHECK_3("mad.hi.s32 %0, %1, %2, %3;", "r", s32, sa, sb, sc, (s32)((u32)__mulhi(sa, sb) + c));
  CHECK_3("sad.u32 %0, %1, %2, %3;", "r", u32, a, b, c, __usad(a, b, c));
  CHECK_3("sad.s32 %0, %1, %2, %3;", "r", u32, a, b, c, __sad(sa, sb, c));
  CHECK_2("min.s32 %0, %1, %2;", "r", s32, sa, sb, sa < sb ? sa : sb);
  CHECK_2("max.u32 %0, %1, %2;", "r", u32, a, b, a > b ? a : b);
  CHECK_1("neg.s32 %0, %1;", "r", s32, sa, (s32)(0 - a));
  CHECK_1("abs.s32 %0, %1;", "r", s32, sa, sa < 0 ? (s32)(0 - a) : sa);
  if (b != 0) CHECK_2("div.u32 %0, %1, %2;", "r", u32, a, b, a / b);
  if (b != 0) CHECK_2("rem.u32 %0, %1, %2;", "r", u32, a, b, a % b);
  if (sb > 0) CHECK_2("div.s32 %0, %1, %2;", "r", s32, sa, sb, sa / sb);
  if (sb > 0) CHECK_2("rem.s32 %0, %1, %2;", "r", s32, sa, sb, sa % sb);
  CHECK_2("mul24.lo.u32 %0, %1, %2;", "r", u32, a, b, __umul24(a, b));
  CHECK_3("mad24.lo.s32 %0, %1, %2, %3;", "r", s32, sa, sb, sc, (s32)((u32)__mul24(sa, sb) + c));
  CHECK_3("dp4a.u32.u32 %0, %1, %2, %3;", "r", u32, a, b, c, __dp4a(a, b, c));
  CHECK_3("dp4a.s32.s32 %0, %1, %2, %3;", "r", s32, sa, sb, sc, __dp4a(sa, sb, sc));
  CHECK_3("dp2a.lo.s32.s32 %0, %1, %2, %3;", "r", s32, sa, sb, sc, __dp2a_lo(sa, sb, sc));
  CHECK_3("dp2a.hi.u32.u32 %0, %1, %2, %3;", "r", u32, a, b, c, __dp2a_hi(a, b, c));
  u64 wide;
  asm("mul.wide.u32 %0, %1, %2;" : "=l"(wide) : "r"(a), "r"(b));
  same("mul.wide.u32", wide, (u64)a * b);
  asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(wide) : "r"(sa), "r"(sb), "l"(wide));
  same("mad.wide.s32", wide, (u64)a * b + (u64)((s64)sa * sb));
  s32 saturated;
  asm("add.sat.s32 %0, %1, %2;" : "=r"(saturated) : "r"(sa), "r"(sb));
  const s64 sum = (s64)sa + sb;
  same("add.sat.s32", saturated,
       (s32)(sum > 0x7fffffff      ? 0x7fffffff
             : sum < -0x80000000ll ? -0x80000000ll
                                   : sum));
}

__device__ u32 add_and_keep(u32 a, u32 b) {
  u32 sum;
  asm volatile("add.cc.u32 %0, %1, %2;" : "=r"(sum) : "r"(a), "r"(b));
  return sum;
}

__device__ void carries(u64 a, u64 b, u64 c) {
  const u32 a0 = (u32)a, a1 = (u32)(a >> 32), b0 = (u32)b, b1 = (u32)(b >> 32), c0 = (u32)c;
  u32 r0, r1, r2, r3;
  asm("add.cc.u32 %0, %3, %5; addc.cc.u32 %1, %4, %6; addc.u32 %2, %7, 0;"
      : "=r"(r0), "=r"(r1), "=r"(r2)
      : "r"(a0), "r"(a1), "r"(b0), "r"(b1), "r"(c0));
  same("addc.cc.u32", (u64)r1 << 32 | r0, a + b);
  same("addc.u32", r2, c0 + (a + b < a));
  asm("sub.cc.u32 %0, %3, %5;\n\tsubc.cc.u32 %1, %4, %6;\n\tsubc.u32 %2, %7, 0;"
      : "=&r"(r0), "=&r"(r1), "=&r"(r2)
      : "r"(a0), "r"(a1), "r"(b0), "r"(b1), "r"(c0));
  same("subc.cc.u32", (u64)r1 << 32 | r0, a - b);
  same("subc.u32", r2, c0 - (a < b));
  // The product of 64 bits by 64 out of words.
  asm("{\n"
      "mul.lo.u32 %0, %4, %6;\n"
      "mul.hi.u32 %1, %4, %6;\n"
      "mad.lo.cc.u32 %1, %4, %7, %1;\n"
      "madc.hi.u32 %2, %4, %7, 0;\n"
      "mad.lo.cc.u32 %1, %5, %6, %1;\n"
      "madc.hi.cc.u32 %2, %5, %6, %2;\n"
      "madc.hi.u32 %3, %5, %7, 0;\n"
      "mad.lo.cc.u32 %2, %5, %7, %2;\n"
      "addc.u32 %3, %3, 0;\n"
      "}"
      : "=&r"(r0), "=&r"(r1), "=&r"(r2), "=&r"(r3)
      : "r"(a0), "r"(a1), "r"(b0), "r"(b1));
  const auto product = (unsigned __int128)a * b;
  same("mad.lo.cc.u32", (u64)r1 << 32 | r0, (u64)product);
  same("madc.hi.cc.u32", (u64)r3 << 32 | r2, (u64)(product >> 64));
  u64 low, high;
  asm("mad.lo.cc.u64 %0, %2, %3, %4; madc.hi.u64 %1, %2, %3, 0;"
      : "=&l"(low), "=l"(high)
      : "l"(a), "l"(b), "l"(c));
  same("mad.lo.cc.u64", low, (u64)(product + c));
  same("madc.hi.u64", high, (u64)((product + c) >> 64));
  // The carry outlives its statement, and the function that it stands in.
  r0 = add_and_keep(a0, b0);
  asm volatile("addc.u32 %0, %1, %2;" : "=r"(r1) : "r"(a1), "r"(b1));
  same("addc.u32 of another statement", (u64)r1 << 32 | r0, a + b);
}

__device__ u32 field(u32 x, u32 from, u32 length) {
  u32 result = 0;
  for (u32 i = 0; i < 32; ++i)
    if (i < (length & 255) && (from & 255) + i < 32) result |= (x >> ((from & 255) + i) & 1) << i;
  return result;
}
__device__ s32 signed_field(u32 x, u32 from, u32 length) {
  from &= 255, length &= 255;
  if (length == 0) return 0;
  u32 result = 0;
  const u32 last = from + length - 1 < 31 ? from + length - 1 : 31;
  for (u32 i = 0; i < 32; ++i) result |= (x >> (i < length && from + i <= 31 ? from + i : last) & 1) << i;
  return (s32)result;
}

__device__ void bits(u64 a, u64 b, u64 c) {
  const u32 x = (u32)a, y = (u32)b, z = (u32)c;
  CHECK_2("and.b32 %0, %1, %2;", "r", u32, x, y, x & y);
  CHECK_2("or.b64 %0, %1, %2;", "l", u64, a, b, a | b);
  CHECK_2("xor.b32 %0, %1, %2;", "r", u32, x, y, x ^ y);
  CHECK_1("not.b32 %0, %1;", "r", u32, x, ~x);
  CHECK_1("cnot.b32 %0, %1;", "r", u32, x, x == 0);
  CHECK_2("shl.b32 %0, %1, %2;", "r", u32, x, y, y < 32 ? x << y : 0);
  CHECK_2("shr.u32 %0, %1, %2;", "r", u32, x, y, y < 32 ? x >> y : 0);
  CHECK_2("shr.s32 %0, %1, %2;", "r", s32, (s32)x, (s32)y, (s32)x >> (y < 32 ? y : 31));
  u64 wide;
  asm("shl.b64 %0, %1, %2;" : "=l"(wide) : "l"(a), "r"(y));
  same("shl.b64", wide, y < 64 ? a << y : 0);
  asm("shr.s64 %0, %1, 63;" : "=l"(wide) : "l"(a));
  same("shr.s64", wide, (u64)((s64)a >> 63));
  CHECK_3("bfe.u32 %0, %1, %2, %3;", "r", u32, x, y, z, field(x, y, z));
  CHECK_3("bfe.s32 %0, %1, %2, %3;", "r", s32, (s32)x, (s32)y, (s32)z, signed_field(x, y, z));
  CHECK_1("bfe.u32 %0, %1, 8, 8;", "r", u32, x, x >> 8 & 255);
  CHECK_1("bfe.u64 %0, %1, 20, 30;", "l", u64, a, a >> 20 & 0x3fffffff);
  CHECK_1("bfe.s64 %0, %1, 60, 9;", "l", u64, a, (u64)((s64)a >> 60));
  CHECK_2("bfi.b32 %0, %1, %2, 4, 12;", "r", u32, x, y, (y & ~0xfff0u) | (x << 4 & 0xfff0u));
  CHECK_2("bfi.b64 %0, %1, %2, 40, 30;", "l", u64, a, b, (b & 0xffffffffffull) | a << 40);
  CHECK_1("bfind.u32 %0, %1;", "r", u32, x, x == 0 ? ~0u : 31u - (u32)__clz((int)x));
  CHECK_1("bfind.shiftamt.s32 %0, %1;", "r", u32, x,
          (x ^ (u32)((s32)x >> 31)) == 0 ? ~0u : (u32)__clz((int)(x ^ (u32)((s32)x >> 31))));
  CHECK_1("brev.b32 %0, %1;", "r", u32, x, __brev(x));
  CHECK_1("brev.b64 %0, %1;", "l", u64, a, __brevll(a));
  CHECK_1("clz.b32 %0, %1;", "r", u32, x, (u32)__clz((int)x));
  CHECK_OF("clz.b64 %0, %1;", "r", u32, "l", a, (u32)__clzll((s64)a));
  CHECK_1("popc.b32 %0, %1;", "r", u32, x, (u32)__popc(x));
  CHECK_OF("popc.b64 %0, %1;", "r", u32, "l", a, (u32)__popcll(a));
  CHECK_3("prmt.b32 %0, %1, %2, %3;", "r", u32, x, y, z & 0x7777u, __byte_perm(x, y, z));
  CHECK_1("prmt.b32 %0, %1, 0, 0xba98;", "r", u32, x,
          (x >> 31 ? 0xff000000u : 0) | (x >> 23 & 1 ? 0xff0000u : 0) | (x >> 15 & 1 ? 0xff00u : 0) |
              (x >> 7 & 1 ? 0xffu : 0));
  CHECK_2("prmt.b32.f4e %0, %1, %2, 1;", "r", u32, x, y, x >> 8 | y << 24);
  CHECK_2("prmt.b32.rc8 %0, %1, %2, 2;", "r", u32, x, y, (x >> 16 & 255) * 0x1010101u);
  CHECK_3("lop3.b32 %0, %1, %2, %3, 0x96;", "r", u32, x, y, z, x ^ y ^ z);
  CHECK_3("lop3.b32 %0, %1, %2, %3, 0xca;", "r", u32, x, y, z, (x & y) | (~x & z));
  CHECK_3("shf.l.wrap.b32 %0, %1, %2, %3;", "r", u32, x, y, z, __funnelshift_l(x, y, z));
  CHECK_3("shf.r.wrap.b32 %0, %1, %2, %3;", "r", u32, x, y, z, __funnelshift_r(x, y, z));
  CHECK_3("shf.l.clamp.b32 %0, %1, %2, %3;", "r", u32, x, y, z, __funnelshift_lc(x, y, z));
  CHECK_3("shf.r.clamp.b32 %0, %1, %2, %3;", "r", u32, x, y, z, __funnelshift_rc(x, y, z));
}

__device__ void choices(u32 a, u32 b, u32 c) {
  u32 r, q;
  asm("{ .reg .pred p; setp.lt.s32 p, %1, %2; selp.u32 %0, %3, 7, p; }" : "=r"(r) : "r"(a), "r"(b), "r"(c));
  same("selp.u32", r, (s32)a < (s32)b ? c : 7u);
  asm("{\n\t.reg .pred p, q, n;\n\tsetp.ne.u32 p, %2, 0;\n\tsetp.gt.and.u32 q|n, %2, %3, p;\n\t"
      "selp.u32 %0, 1, 0, q;\n\tselp.u32 %1, 1, 0, n;\n\t}"
      : "=r"(r), "=r"(q)
      : "r"(a), "r"(b));
  same("setp.gt.and.u32", r, (u32)(a > b && a != 0));
  same("setp.gt.and.u32 q|n", q, (u32)(!(a > b) && a != 0));
  asm("{ .reg .pred p<2>; setp.eq.u32 p0, %1, %2; setp.eq.or.u32 p1, %1, 1, !p0; @!p1 mov.u32 %0, 5; @p1 "
      "mov.u32 %0, 6; }"
      : "=r"(r)
      : "r"(a), "r"(b));
  same("@!p mov.u32", r, a == 1 || a != b ? 6u : 5u);
  asm("slct.u32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
  same("slct.u32.s32", r, (s32)c >= 0 ? a : b);
  asm("set.lt.u32.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  same("set.lt.u32.u32", r, a < b ? ~0u : 0u);
  // Registers of the same name in scopes of their own.
  asm("{ .reg .u32 t; add.u32 t, %1, 1; { .reg .u32 t; add.u32 t, %1, 2; mov.u32 %0, t; } add.u32 %0, %0, t; "
      "}"
      : "=&r"(r)
      : "r"(a));
  same("nested scopes", r, 2 * a + 3);
  // A loop.
  asm("{ .reg .u32 i; .reg .pred p; mov.u32 i, 0; mov.u32 %0, 0;\n"
      "AGAIN_%=: add.u32 %0, %0, i; add.u32 i, i, 1; setp.lt.u32 p, i, %1; @p bra AGAIN_%=; }"
      : "=&r"(r)
      : "r"(a % 10 + 1));
  same("bra", r, (a % 10 + 1) * (a % 10) / 2);
}

__device__ void vectors_and_conversions(u64 a, u32 b) {
  u32 low, high;
  asm("mov.b64 {%0, %1}, %2;" : "=r"(low), "=r"(high) : "l"(a));
  same("mov.b64 {}", (u64)high << 32 | low, a);
  u64 both;
  asm("mov.b64 %0, {%1, %2};" : "=l"(both) : "r"(high), "r"(low));
  same("mov.b64", both, a << 32 | a >> 32);
  unsigned short half;
  asm("{ .reg .b16 unused; mov.b32 {%0, unused}, %1; }" : "=h"(half) : "r"(b));
  same("mov.b32 {}", half, (unsigned short)b);
  asm("mov.u32 %0, %1;" : "=r"(low) : "n"(1234));
  same("mov.u32 of a constant", low, 1234u);
  CHECK_1("cvt.u32.u8 %0, %1;", "r", u32, b, b & 255);
  CHECK_1("cvt.s32.s8 %0, %1;", "r", s32, (s32)b, (s32)(signed char)b);
  CHECK_1("cvt.sat.u8.s32 %0, %1;", "r", u32, b, (s32)b < 0 ? 0u : (s32)b > 255 ? 255u : b);
  CHECK_OF("cvt.u64.u32 %0, %1;", "l", u64, "r", b, (u64)b);
  CHECK_OF("cvt.s64.s32 %0, %1;", "l", s64, "r", (s32)b, (s64)(s32)b);
  CHECK_OF("cvt.u32.u64 %0, %1;", "r", u32, "l", a, (u32)a);
}

__device__ void reals(u64 bits_a, u64 bits_b) {
  const float x = __uint_as_float((u32)bits_a & 0xbfffffffu), y = __uint_as_float((u32)bits_b & 0xbfffffffu);
  const double u = (s64)bits_a * 0x1p-20, v = (s64)bits_b * 0x1p-30;
  CHECK_2("add.f32 %0, %1, %2;", "f", float, x, y, x + y);
  CHECK_2("sub.rn.f32 %0, %1, %2;", "f", float, x, y, x - y);
  CHECK_2("mul.ftz.f32 %0, %1, 0f40400000;", "f", float, x, y, x * 3.0f);
  CHECK_2("mul.f64 %0, %1, %2;", "d", double, u, v, u* v);
  CHECK_2("div.rn.f64 %0, %1, %2;", "d", double, u, v, u / v);
  CHECK_3("fma.rn.f32 %0, %1, %2, %3;", "f", float, x, y, x, fmaf(x, y, x));
  CHECK_3("fma.rn.f64 %0, %1, %2, %3;", "d", double, u, v, u, fma(u, v, u));
  CHECK_2("add.rz.f32 %0, %1, %2;", "f", float, x, y, __fadd_rz(x, y));
  CHECK_2("mul.rp.f64 %0, %1, %2;", "d", double, u, v, __dmul_ru(u, v));
  CHECK_1("sqrt.rm.f64 %0, %1;", "d", double, fabs(u), __dsqrt_rd(fabs(u)));
  CHECK_2("min.f32 %0, %1, %2;", "f", float, x, y, fminf(x, y));
  CHECK_2("max.f64 %0, %1, %2;", "d", double, u, v, fmax(u, v));
  CHECK_1("neg.f32 %0, %1;", "f", float, x, -x);
  CHECK_1("abs.f64 %0, %1;", "d", double, u, fabs(u));
  CHECK_1("sqrt.rn.f32 %0, %1;", "f", float, fabsf(x), sqrtf(fabsf(x)));
  CHECK_1("rcp.approx.ftz.f32 %0, %1;", "f", float, x, 1 / x);
  CHECK_1("rsqrt.approx.f32 %0, %1;", "f", float, fabsf(x), 1 / sqrtf(fabsf(x)));
  const float small = (float)(bits_a % 1000) / 37;
  CHECK_1("ex2.approx.f32 %0, %1;", "f", float, small, exp2f(small));
  CHECK_1("lg2.approx.f32 %0, %1;", "f", float, small, log2f(small));
  CHECK_1("sin.approx.f32 %0, %1;", "f", float, small, sinf(small));
  CHECK_1("cos.approx.f32 %0, %1;", "f", float, small, cosf(small));
  CHECK_1("add.sat.f32 %0, %1, 0f00000000;", "f", float, small - 1, __saturatef(small - 1));
  CHECK_2("copysign.f32 %0, %1, %2;", "f", float, x, y, copysignf(y, x));
  CHECK_1("cvt.rni.f32.f32 %0, %1;", "f", float, small, rintf(small));
  CHECK_OF("cvt.rzi.s32.f32 %0, %1;", "r", s32, "f", x, __float2int_rz(x));
  CHECK_OF("cvt.rpi.u32.f64 %0, %1;", "r", u32, "d", u, __double2uint_ru(u));
  CHECK_OF("cvt.rn.f32.s32 %0, %1;", "f", float, "r", (s32)bits_a, (float)(s32)bits_a);
  CHECK_OF("cvt.rz.f32.u64 %0, %1;", "f", float, "l", bits_a, __ull2float_rz(bits_a));
  CHECK_OF("cvt.f64.f32 %0, %1;", "d", double, "f", x, (double)x);
  CHECK_OF("cvt.rn.f32.f64 %0, %1;", "f", float, "d", u, (float)u);
  CHECK_OF("cvt.rp.f32.f64 %0, %1;", "f", float, "d", u, __double2float_ru(u));
  u32 r;
  asm("{ .reg .pred p; setp.ltu.f32 p, %1, %2; selp.u32 %0, 1, 0, p; }" : "=r"(r) : "f"(x), "f"(y));
  same("setp.ltu.f32", r, (u32) !(x >= y));
  asm("{ .reg .pred p; testp.subnormal.f32 p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(r) : "f"(x));
  same("testp.subnormal.f32", r, (u32)(x != 0 && fabsf(x) < 0x1p-126f));
  unsigned short half;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(small));
  float back;
  asm("cvt.f32.f16 %0, %1;" : "=f"(back) : "h"(half));
  u32 halves;  // 3 and 1.5; that twice, less 1
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(halves) : "f"(3.0f), "f"(1.5f));
  same("cvt.rn.f16x2.f32", halves, 0x42003e00u);
  asm("add.f16x2 %0, %1, %1;" : "=r"(r) : "r"(halves));
  same("add.f16x2", r, 0x46004200u);
  asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(halves), "r"(0x40004000), "r"(0xbc00bc00));
  same("fma.rn.f16x2", r, 0x45004000u);
  same("cvt.f32.f16", (u32)(fabsf(back - small) <= small * 0x1p-11f), 1u);
}

__global__ void values() {
  for (unsigned round = 0; round < 12; ++round) {
    const u64 a = number(threadIdx.x, round), b = number(threadIdx.x, round + 1),
              c = number(threadIdx.x, round + 2);
    arithmetic((u32)a, (u32)b, (u32)c);
    carries(a, b, c);
    bits(a, b, c);
    choices((u32)a, (u32)b, (u32)c);
    vectors_and_conversions(a, (u32)b);
    reals(a, b);
  }
}

int main() {
  values<<<1, 64>>>();
  if (const auto error = cudaDeviceSynchronize(); error != cudaSuccess) {
    std::printf("%s\n", cudaGetErrorString(error));
    return 1;
  }
  int counts[2] = {0, 1};
  cudaMemcpyFromSymbol(&counts[0], checks, sizeof(int));
  cudaMemcpyFromSymbol(&counts[1], failures, sizeof(int));
  std::printf("values: %d checks, %d failures\n", counts[0], counts[1]);
  return counts[1] != 0;
}
