// Kernels of the access tests whose places only a launch's numbers make plain: flags that loops leave, masks and shifts by scalars, chunks.

#define elsewhere elsewhere_here
__device__ int elsewhere_here(int i) { return i; }
#include "../access/kernels.cu"

int main() {
  constexpr int kBytes = 1 << 16;
  float* in = nullptr;
  float* out = nullptr;
  if (cudaMalloc(&in, kBytes) != cudaSuccess || cudaMalloc(&out, kBytes) != cudaSuccess) return 1;
  cudaMemset(in, 0x3f, kBytes);
  cudaMemset(out, 0, kBytes);
  const auto integers = [](float* numbers) { return reinterpret_cast<int*>(numbers); };
  for (const int rounds : {0, 1, 3}) ghost_zone<<<7, 32>>>(rounds, in, out, 7 * (32 - 2 * rounds) - 5);
  found_before<<<8, 64>>>(integers(in), integers(out), 500, 4);
  for (const unsigned stride : {1u, 16u, 64u, 256u, 48u}) butterfly<<<4, 64>>>(out, stride);
  for (const int bit : {1, 8, 128, 24, 5}) pairs<<<8, 32>>>(integers(out), bit);
  in_24_bits<<<dim3(4, 5), dim3(16, 4)>>>(out, 60, 19);
  for (const int log : {0, 5, 9}) rows_of_a_power<<<6, 32>>>(out, log);
  warps_and_lanes<<<5, 96>>>(out);
  for (const int n : {400, 401, 1000}) quarters<<<8, 128>>>(out, n);
  for (const unsigned n : {999u, 1000u, 5u}) chunks<<<8, 32>>>(out, n);
  clamped_unsigned<<<8, 64>>>(out, in, 500);
  raises_a_flag<<<8, 64>>>(integers(out), in, 500);
  std::printf(cudaDeviceSynchronize() == cudaSuccess ? "PASS\n" : "FAIL\n");
  return 0;
}
