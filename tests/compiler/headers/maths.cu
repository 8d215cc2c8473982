// Compiled in both passes by run.sh; names every function of its topic at least once, and runs nothing.
#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <tuple>
__global__ void m(float* f, double* d, int* i, unsigned* u, long long* l) {
  f[0] = sinf(f[1]) + sin(f[2]) + std::sin(f[3]) + rsqrtf(f[1]) + rsqrt(f[2]) + rcbrtf(f[3]) + __expf(f[4]) +
         __sinf(f[1]) + __powf(f[1], f[2]) + fdividef(f[1], f[2]) + __fdividef(f[1], f[2]) + __logf(f[1]) +
         exp10f(f[1]) + exp10(f[1]);
  sincosf(f[1], f + 2, f + 3);
  sincos(d[1], d + 2, d + 3);
  __sincosf(f[1], f + 2, f + 3);
  sincospi(d[1], d + 2, d + 3);
  sincospif(f[1], f + 1, f + 2);
  f[1] = erfinvf(f[1]) + normcdff(f[1]) + normcdfinvf(f[2]) + erfcxf(f[1]) + cyl_bessel_i0f(f[1]) +
         j0f(f[1]) + jnf(2, f[1]) + tgammaf(f[1]) + lgammaf(f[1]) + norm3df(f[1], f[2], f[3]) +
         rnorm4df(f[1], f[2], f[3], f[4]) + norm(3, f) + rhypotf(f[1], f[2]) + cbrtf(f[1]) + ldexpf(f[1], 3) +
         scalbnf(f[1], 2) + remainderf(f[1], f[2]) + fmodf(f[1], f[2]) + fmaf(f[1], f[2], f[3]) +
         fmaf(f[1], 2, 3) + copysignf(f[1], f[2]) + nextafterf(f[1], f[2]) + rintf(f[1]) + nearbyintf(f[1]) +
         roundf(f[1]) + truncf(f[1]) + logbf(f[1]) + ilogbf(f[1]) + fdimf(f[1], f[2]) + hypotf(f[1], f[2]) +
         atan2f(f[1], f[2]) + log1pf(f[1]) + expm1f(f[1]) + exp2f(f[1]) + log2f(f[1]);
  d[0] = sin(d[1]) + pow(d[1], 2) + pow(d[1], 2.0) + pow(f[1], 2) + pow(f[1], f[2]) + std::pow(f[1], 2.5f) +
         abs(d[2]) + fabs(f[1]) + max(d[1], d[2]) + fmax(f[1], f[2]) + fmin(d[1], f[1]) + max(f[1], f[2]) +
         std::max(f[1], f[2]) + atan(f[1]) + tan(d[1]) + floor(f[1]) + ceil(d[1]) + round(f[1]) + sqrt(f[1]) +
         sqrt(2) + exp(d[1]) + log(f[1]) + cbrt(d[1]) + erf(f[1]) + erfcinv(d[1]) + modf(d[1], d + 2) +
         frexp(f[1], i) + __fma_rd(d[1], d[2], d[3]) + __dadd_ru(d[1], d[2]) + __ddiv_rz(d[1], d[2]) +
         __dsqrt_rn(d[1]) + __drcp_rn(d[1]) + fabsf(f[1]) + lrintf(f[1]) + llround(d[1]) + rcbrt(d[1]);
  i[0] = isnan(f[1]) + isinf(d[1]) + isfinite(f[1]) + signbit(f[1]) + std::isnan(f[1]) + isnan(d[1]) +
         __isnan(d[1]) + __isinff(f[1]) + __finite(d[1]) + abs(i[1]) + abs(l[1]) + llabs(l[1]) + labs(3) +
         min(i[1], i[2]) + min(u[1], i[2]) + max(l[1], l[2]) + max(3, i[2]) + umin(u[1], u[2]) +
         llmin(l[1], l[2]);
  i[1] = __float2int_rn(f[1]) + __float2int_rz(f[1]) + __float2uint_ru(f[1]) + __double2int_rd(d[1]) +
         __double2ll_rn(d[1]) + __float_as_int(f[1]) + __double2hiint(d[1]) + __clz(i[1]) + __clzll(l[1]) +
         __popc(u[1]) + __ffs(i[1]) + __brev(u[1]) + __byte_perm(u[1], u[2], 0x5140) + __mulhi(i[1], i[2]) +
         __umulhi(u[1], u[2]) + __mul24(i[1], i[2]) + __sad(i[1], i[2], u[1]) + __hadd(i[1], i[2]) +
         __funnelshift_l(u[1], u[2], 3) + __vadd4(u[1], u[2]) + __vabsdiffu4(u[1], u[2]) +
         __vsadu4(u[1], u[2]) + __dp4a(i[1], i[2], i[3]) + __vcmpgts2(u[1], u[2]);
  f[2] = __int2float_rn(i[1]) + __int2float_rz(i[1]) + __ull2float_rd(l[1]) + __double2float_rn(d[1]) +
         __double2float_rz(d[1]) + __int_as_float(i[1]) + __saturatef(f[1]) + __fadd_rn(f[1], f[2]) +
         __fmul_rd(f[1], f[2]) + __fmaf_rz(f[1], f[2], f[3]) + __frcp_rn(f[1]) + __fsqrt_ru(f[1]) +
         __frsqrt_rn(f[1]);
  float4 v = __ldg((const float4*)f);
  __stcs(f, v.x);
  f[3] = __ldcg(f + 1) + __ldcv(f + 2);
  std::complex<float> a(f[1], f[2]);
  a *= a;
  a = a / std::complex<float>(1, 2) + exp(a) + sqrt(a);
  f[4] = std::abs(a) + std::norm(a) + std::real(std::conj(a)) + std::arg(a);
  std::swap(i[1], i[2]);
  auto t = std::make_tuple(1, 2.f);
  i[2] = std::get<0>(t) + std::numeric_limits<int>::max() + std::plus<int>()(1, 2);
  f[5] = std::numeric_limits<float>::infinity() + INFINITY + FLT_MAX + M_PI + HUGE_VALF;
  std::pair<int, int> pp(1, 2);
  i[3] = pp.first;
  f[6] = std::fma(f[1], f[2], f[3]) + std::hypot(f[1], f[2]) + std::round(f[1]) + std::fmax(f[1], f[2]) +
         std::fabs(f[1]) + std::exp(f[1]) + std::abs(f[2]) + std::cbrt(f[1]) + std::erf(f[2]) +
         std::log2(f[1]) + std::trunc(f[2]) + std::copysign(f[1], f[2]) + std::lround(f[3]) +
         std::min({1, 2, 3});
}
int hostside() {
  float s, c;
  sincospif(.3f, &s, &c);
  sincosf(.2f, &s, &c);
  return (int)(rsqrt(2.0) + rsqrtf(3.f) + min(3, 4) + max(3.f, 4.f) + norm3d(1, 2, 3.0) + fminf(1, 2) + s +
               c + erfcinv(.2) + min(3u, 4u) + exp10(2.0) + rcbrt(2.f) + max(1ul, 2ul));
}
int main() { return hostside(); }
