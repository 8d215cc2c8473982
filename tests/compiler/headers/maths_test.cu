// CUDA's own mathematical functions, run on the host: against long double, or against what they invert. The device-only
// ones are compiled as host code too (run.sh defines NUNA_TEST_ON_HOST), for it is the same source.
#include <cfenv>
#include <cstdint>
#include <random>

static int failures = 0;
#define CHECK(condition) \
  if (!(condition)) ++failures, std::printf("%s:%d: %s\n", __FILE__, __LINE__, #condition)
#define NEAR(value, expected, tolerance)                                                           \
  do {                                                                                             \
    const double v = (value), e = (expected);                                                      \
    if (!(std::fabs(v - e) <= (tolerance) * std::fabs(e)))                                         \
      ++failures, std::printf("%s:%d: %s = %.17g, not %.17g\n", __FILE__, __LINE__, #value, v, e); \
  } while (0)

template <class Real, class Operation>
Real rounded(int mode, Operation operation) {
  std::fesetround(mode);
  volatile Real result = operation();
  std::fesetround(FE_TONEAREST);
  return result;
}
// Against the CPU's own rounding modes.
#define MODES(check) check(rz, FE_TOWARDZERO) check(ru, FE_UPWARD) check(rd, FE_DOWNWARD)

template <class Real>
void check_roundings(Real (*draw)(std::mt19937_64&)) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) {
    volatile Real a = draw(random), b = draw(random), c = draw(random), d = std::fabs(draw(random));
#define CHECK_MODE(name, mode)                                                                              \
  CHECK(__nuna_add<__nuna_##name>((Real)a, (Real)b) == (rounded<Real>(mode, [&] { return a + b; })));       \
  CHECK(__nuna_multiply<__nuna_##name>((Real)a, (Real)b) == (rounded<Real>(mode, [&] { return a * b; })));  \
  CHECK(__nuna_divide<__nuna_##name>((Real)a, (Real)b) == (rounded<Real>(mode, [&] { return a / b; })));    \
  CHECK(__nuna_square_root<__nuna_##name>((Real)d) == (rounded<Real>(mode, [&] { return std::sqrt(d); }))); \
  CHECK(__nuna_multiply_add<__nuna_##name>((Real)a, (Real)b, (Real)c) ==                                    \
        (rounded<Real>(mode, [&] { return std::fma(a, b, c); })));
    MODES(CHECK_MODE)
#undef CHECK_MODE
  }
}

int main() {
  for (double x = -26.0; x < 26.0; x += 0.37) {
    const double c = erfc(x);
    if (c > 0 && c < 2) NEAR(erfc(erfcinv(c)), c, 3e-14 * (1 + x * x));
    NEAR(normcdf(normcdfinv(0.5 + x / 60)), 0.5 + x / 60, 1e-14);
    if (x > -25) NEAR(erfcx(x), (double)(expl((long double)x * x) * erfcl(x)), 2e-15 * (1 + std::fabs(x)));
    float s, k;
    sincospif((float)x, &s, &k);
    CHECK(std::fabs(s - std::sin(M_PI * (double)(float)x)) < 1e-6 &&
          std::fabs(k - std::cos(M_PI * (double)(float)x)) < 1e-6);
    CHECK(std::fabs(sinpi(x) - (double)sinl(M_PIl * (long double)x)) < 4e-16);
    CHECK(std::fabs(cospi(x) - (double)cosl(M_PIl * (long double)x)) < 4e-16);
  }
  for (double y = -0.999; y < 1; y += 0.013) NEAR(1 + erf(erfinv(y)), 1 + y, 1e-15);
  NEAR(erfinv(0.5), 0.47693627620446987, 4e-16);
  NEAR(erfcinv(1e-300), 26.209469960516, 1e-12);
  CHECK(sinpi(1.0) == 0 && sinpi(0.5) == 1 && cospi(0.5) == 0 && cospi(1.0) == -1 && sinpi(-0.5) == -1 &&
        sinpi(1e300) == 0);
  CHECK(std::isinf(erfcinv(0.0)) && std::isnan(erfinv(1.1)) && normcdfinv(0.5) == 0 &&
        erfinvf(1.0f) == INFINITY);
  NEAR(cyl_bessel_i0(1.0), 1.2660658777520083, 1e-15);
  NEAR(cyl_bessel_i1(1.0), 0.5651591039924850, 1e-15);
  NEAR(cyl_bessel_i0(50.0), 2.9325537838493363e20, 1e-14);
  NEAR(norm3d(1e200, 2e200, 2e200), 3e200, 1e-15);
  NEAR(norm4d(1e-200, 1e-200, 1e-200, 1e-200), 2e-200, 1e-15);
  CHECK(rnorm3df(3, 0, 4) == 0.2f && rhypot(3.0, 4.0) == 0.2 && rsqrt(4.0f) == 0.5f && rcbrt(8.0) == 0.5);
  CHECK(min(3, 4) == 3 && max(-1, 2u) == 0xffffffffu && max(1.0f, NAN) == 1.0f && min(2.0, 1.0f) == 1.0);
  CHECK(exp10(2.0) == 100 && fdividef(1, 4) == 0.25f && llmax(1, 2) == 2 && umin(1, 2) == 1);
  const float4 v = make_float4(1, 2, 3, 4);
  CHECK(v.x == 1 && v.w == 4 && sizeof(float3) == 12 && alignof(float4) == 16 && alignof(double2) == 16 &&
        sizeof(uchar3) == 3);
  const dim3 d(2, 3);
  CHECK(d.x == 2 && d.y == 3 && d.z == 1);

#ifdef NUNA_TEST_ON_HOST
  check_roundings<float>(
      [](std::mt19937_64& r) { return std::ldexp((float)(int32_t)r(), (int)(r() % 40) - 50); });
  check_roundings<double>(
      [](std::mt19937_64& r) { return std::ldexp((double)(int64_t)r(), (int)(r() % 90) - 100); });
  CHECK(__fadd_rz(3e38f, 3e38f) == 3.402823466e38f && __fadd_ru(3e38f, 3e38f) == INFINITY &&
        __fadd_rd(-3e38f, -3e38f) == -INFINITY);
  CHECK(__float2int_rn(2.5f) == 2 && __float2int_ru(2.1f) == 3 && __float2int_rz(-2.9f) == -2 &&
        __float2int_rd(-2.1f) == -3);
  CHECK(__float2int_rz(1e20f) == 0x7fffffff && __float2int_rz(-1e20f) == -0x7fffffff - 1 &&
        __float2int_rz(NAN) == 0);
  CHECK(__float2uint_rz(-5.0f) == 0 && __float2uint_rz(1e20f) == 0xffffffffu &&
        __double2ull_rz(1e30) == ~0ull);
  CHECK(__ll2double_rz((1ll << 53) + 1) == 0x1p53 && __ll2double_ru((1ll << 53) + 1) == 0x1p53 + 2 &&
        __int2float_rd(16777217) == 16777216.0f);
  CHECK(__double2float_ru(1.0 + 1e-12) == 1.0f + 0x1p-23f && __double2float_rz(-1.0 - 1e-12) == -1.0f);
  CHECK(__clz(0) == 32 && __clz(1) == 31 && __clzll(1) == 63 && __ffs(0) == 0 && __ffs(8) == 4 &&
        __popc(255) == 8 && __brev(1) == 0x80000000u);
  CHECK(__byte_perm(0x03020100u, 0x07060504u, 0x7531) == 0x07050301u && __mulhi(1 << 30, 8) == 2 &&
        __mul24(-3, 5) == -15);
  CHECK(__funnelshift_l(0x80000000u, 1, 1) == 3 && __funnelshift_r(1, 1, 1) == 0x80000000u &&
        __funnelshift_lc(5, 7, 40) == 5);
  CHECK(__hadd(-3, 2) == -1 && __rhadd(1, 2) == 2 && __sad(1, -2, 4) == 7 && __fns(0xf0, 0, 2) == 5 &&
        __umul64hi(~0ull, 2) == 1);
  CHECK(__vadd4(0xff010203u, 0x02010101u) == 0x01020304u &&
        __vaddus4(0xff000000u, 0x02000000u) == 0xff000000u);
  CHECK(__vabsdiffu4(0x05000001u, 0x01000003u) == 0x04000002u && __vsadu4(0x05000001u, 0x01000003u) == 6 &&
        __vcmpgts2(0x00010000u, 0xffff0001u) == 0xffff0000u);
  CHECK(__dp4a(0x01020304, 0x01010101, 5) == 15 && __dp4a((int)0xff000000, 2 << 24, 0) == -2 &&
        __vmaxs2(0xffff0001u, 0x00010000u) == 0x00010001u);
  CHECK(__hiloint2double(0x3ff00000, 0) == 1.0 && __float_as_int(1.0f) == 0x3f800000 &&
        __saturatef(NAN) == 0);
#endif
  if (failures) std::printf("%d failures\n", failures);
  return failures != 0;
}
