// cuda_fp8.h on the host.
#include <cuda_fp8.h>

#include <cmath>
#include <cstdio>
#include <limits>

static int wrong = 0;
#define CHECK(condition) \
  if (!(condition)) wrong = 1, std::printf("line %d: %s\n", __LINE__, #condition)

template <class T>
static void every_number_comes_back(unsigned largest) {
  for (unsigned code = 0; code < 256; ++code) {
    T number;
    number.__x = (__nv_fp8_storage_t)code;
    const float value = (float)number;
    if ((code & 0x7fu) > largest) {
      CHECK(!std::isfinite(value));
      continue;
    }
    CHECK(T(value).__x == code && T((double)value).__x == code);
    CHECK((float)(__half)number == value && T((__half)number).__x == code);
    if ((code & 0x7fu) == largest) continue;
    T next;  // half way between two, the even one; a little beyond, the nearer one
    next.__x = (__nv_fp8_storage_t)(code + 1);
    const double middle = ((double)value + (double)next) / 2;
    CHECK(T(middle).__x == (code & 1 ? code + 1 : code));
    CHECK(T(std::nextafter(middle, (double)next)).__x == code + 1);
    CHECK(T(std::nextafter(middle, (double)value)).__x == code);
  }
}

int main() {
  every_number_comes_back<__nv_fp8_e4m3>(0x7e);
  every_number_comes_back<__nv_fp8_e5m2>(0x7b);
  CHECK((float)__nv_fp8_e4m3(1.0f) == 1.0f && __nv_fp8_e4m3(1.0f).__x == 0x38);
  CHECK((float)__nv_fp8_e4m3(1000.0f) == 448.0f && (float)__nv_fp8_e5m2(-1e9) == -57344.0f);
  const float infinity = std::numeric_limits<float>::infinity();
  CHECK((float)__nv_fp8_e4m3(infinity) == 448.0f);
  CHECK(__nv_cvt_float_to_fp8(1000.0f, __NV_NOSAT, __NV_E4M3) == 0x7f);
  CHECK(__nv_cvt_float_to_fp8(-infinity, __NV_NOSAT, __NV_E5M2) == 0xfc);
  CHECK(__nv_cvt_float_to_fp8(std::nanf(""), __NV_SATFINITE, __NV_E5M2) == 0x7f);
  CHECK((int)__nv_fp8_e4m3(-3.5f) == -3 && (unsigned char)__nv_fp8_e4m3(300.0f) == 255);
  CHECK((signed char)__nv_fp8_e5m2(-400.0f) == -128 && (unsigned)__nv_fp8_e4m3(-1.0f) == 0);
  CHECK((bool)__nv_fp8_e4m3(0.5f) && !(bool)__nv_fp8_e4m3(-0.0f) && (float)__nv_fp8_e5m2(17ll) == 16.0f);
  const __nv_fp8x2_e5m2 pair(make_float2(1.0f, -2.0f));
  CHECK(pair.__x == 0xc03c && ((float2)pair).y == -2.0f && (float)((__half2)pair).x == 1.0f);
  const __nv_fp8x4_e4m3 four(make_float4(1, 2, -3, 500));
  const float4 back = (float4)four;
  CHECK(back.x == 1 && back.y == 2 && back.z == -3 && back.w == 448);
  CHECK(__nv_fp8x4_e4m3(__floats2half2_rn(1, 2), __floats2half2_rn(-3, 500)).__x == four.__x);
  CHECK(__nv_fp8x2_e4m3(__floats2bfloat162_rn(1, 2)).__x == (four.__x & 0xffffu));
  std::puts(wrong ? "FAIL" : "PASS");
  return wrong;
}
