// Compiled in both passes by run.sh; names every function of its topic at least once, and runs nothing.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
__global__ void k(half* a, half2* b, float* f, __nv_bfloat16* c, int* i) {
  a[0] = a[1] + a[2] * a[3];
  a[1] += a[0];
  b[0] = __hfma2(b[1], b[2], b[3]);
  f[0] = __half2float(a[0]) + __low2float(b[0]);
  a[2] = __float2half(f[1]);
  a[3] = f[2];
  a[4] = hexp(a[3]);
  a[5] = __shfl_down_sync(~0u, a[5], 4);
  b[3] = __floats2half2_rn(f[1], f[2]);
  c[0] = __float2bfloat16(f[1]);
  c[1] = c[0] * c[2];
  f[3] = __bfloat162float(c[1]);
  atomicAdd(b, b[1]);
  atomicAdd(a, a[1]);
  i[0] = __half2int_rn(a[1]) + (a[1] > a[2]) + __hgt(a[1], a[2]);
  a[6] = 3;
  a[7] = 2.0;
  b[4] = __half2half2(a[1]);
  b[5] = b[4] + b[3];
  half z = half(1);
  a[7] = __hadd(z, a[1]);
  b[6] = __halves2half2(z, z);
  float2 q = __half22float2(b[5]);
  f[0] = q.x + (float)a[1];
  a[8] = __int2half_rn(i[1]);
  a[9] = __ldg(a + 1);
  a[10] = __float2half_rz(f[1]);
  a[11] = __hdiv(a[1], a[2]);
  i[3] = __half_as_short(a[1]) + __hadd(i[1], i[2]);
}
