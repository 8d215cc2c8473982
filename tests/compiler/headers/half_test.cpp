// half and bfloat16 on the host: every value survives the way to float and back; roundings.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdio>

static int failures = 0;
#define CHECK(condition) \
  if (!(condition)) ++failures, std::printf("%s:%d: %s\n", __FILE__, __LINE__, #condition)

static unsigned bits(half value) { return __half_as_ushort(value); }

int main() {
  for (unsigned i = 0; i < 65536; ++i) {
    const half h = __ushort_as_half((unsigned short)i);
    if (!__hisnan(h)) {
      CHECK(bits(__float2half((float)h)) == i);
      CHECK(bits(half((double)(float)h)) == i);
    }
    const __nv_bfloat16 b = __ushort_as_bfloat16((unsigned short)i);
    if (!__hisnan(b)) CHECK(__bfloat16_as_ushort(__float2bfloat16((float)b)) == i);
  }
  CHECK(bits(half(1.0 + 1.0 / 2048 + 1e-12)) == 0x3c01);  // by way of float it would be 0x3c00
  CHECK(bits(half(1.0 + 1.0 / 2048)) == 0x3c00);
  CHECK(bits(__float2half_ru(1.0001f)) == 0x3c01);
  CHECK(bits(__float2half_rd(1.0009f)) == 0x3c00);
  CHECK(bits(__float2half_rz(-1.0009f)) == 0xbc00);
  CHECK(bits(__float2half_rz(70000.0f)) == 0x7bff);
  CHECK(bits(__float2half(70000.0f)) == 0x7c00);
  CHECK(bits(__float2half_ru(1e-10f)) == 0x0001);
  CHECK(bits(__float2half_rd(-1e-10f)) == 0x8001);
  CHECK(bits(__float2half_rz(-1e-10f)) == 0x8000);
  CHECK((float)(half(2) * half(3)) == 6.0f);
  CHECK(__low2float(__floats2half2_rn(1, 2) + __floats2half2_rn(3, 4)) == 4.0f);
  CHECK(__hgt(half(2.0f), half(1.0f)) && !__hlt(half(2.0f), half(1.0f)));
  const half nan = CUDART_NAN_FP16;
  CHECK(__hisnan(nan) && !__heq(nan, nan) && __hequ(nan, nan) && nan != nan);
  return failures != 0;
}
