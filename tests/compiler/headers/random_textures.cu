// Compiled in both passes by run.sh; names every function of its topic at least once, and runs nothing.
#include <cuComplex.h>
#include <curand_kernel.h>
#include <math_constants.h>
__global__ void k(curandState* s, curandStatePhilox4_32_10_t* p, float* f, double* d, unsigned* u,
                  cudaTextureObject_t t, cudaSurfaceObject_t o) {
  curand_init(1234, threadIdx.x, 0, s);
  curand_init(1ull, 2, 3, p);
  u[0] = curand(s) + curand(p) + curand_poisson(s, 4.0);
  f[0] = curand_uniform(s) + curand_normal(s) + curand_uniform(p) + curand_log_normal(s, 1.f, 2.f);
  d[0] = curand_uniform_double(s) + curand_normal_double(p);
  float4 q = curand_uniform4(p);
  f[1] = q.x;
  f[2] = tex1Dfetch<float>(t, 3) + tex2D<float>(t, 1.5f, 2.5f) + tex3D<float4>(t, 1, 2, 3).x +
         tex1D<uchar4>(t, 2).y + tex2DLayered<float>(t, 1, 2, 3) + texCubemap<float>(t, 1, 2, 3) +
         tex2DLod<float>(t, 1, 2, 0);
  int z;
  surf2Dread(&z, o, 4, 5);
  surf2Dwrite(z + 1, o, 4, 5, cudaBoundaryModeZero);
  f[3] = surf3Dread<float>(o, 1, 2, 3);
  tex2D(f + 4, t, 1, 2);
  cuFloatComplex c = make_cuFloatComplex(1, 2);
  c = cuCmulf(c, c);
  f[4] = cuCabsf(c) + CUDART_PI_F + CUDART_INF_F;
  cuDoubleComplex e = cuCdiv(make_cuDoubleComplex(1, 2), make_cuDoubleComplex(3, 4));
  d[1] = cuCreal(e);
}
