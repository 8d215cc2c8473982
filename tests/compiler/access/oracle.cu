// Runs the kernels of kernels.cu once each, and says which words of memory have changed: oracle.py compares that with their models.
#include <cstdio>
#include <cstring>
#include <vector>

#define elsewhere elsewhere_here
__device__ int elsewhere_here(int i) { return i; }
#include "control_flow.cuh"
#include "kernels.cu"

constexpr std::size_t kBytes = 1 << 16;
constexpr int kBuffers = 4;
static unsigned char* buffers[kBuffers];

template <class T>
T* buffer(int index) {
  return reinterpret_cast<T*>(buffers[index] + kBytes / 4);
}

static unsigned char filling(int index) { return static_cast<unsigned char>(0x11 * (index + 2)); }

template <class T>
static void print_bytes(const T& argument) {
  unsigned char bytes[sizeof(T)];
  std::memcpy(bytes, &argument, sizeof(T));
  std::printf(" ");
  for (const auto byte : bytes) std::printf("%02x", byte);
}

template <class... Parameters>
static void run(const char* name, dim3 grid, dim3 block, void (*kernel)(Parameters...),
                Parameters... arguments) {
  for (int i = 0; i < kBuffers; ++i) cudaMemset(buffers[i], filling(i), kBytes);
  std::printf("kernel %s %u %u %u %u %u %u", name, block.x, block.y, block.z, grid.x, grid.y, grid.z);
  (print_bytes(arguments), ...);
  std::printf("\n");
  kernel<<<grid, block, 4096>>>(arguments...);
  if (cudaDeviceSynchronize() != cudaSuccess) std::printf("failed\n");
  std::vector<unsigned char> now(kBytes), before(4);
  for (int i = 0; i < kBuffers; ++i) {
    cudaMemcpy(now.data(), buffers[i], kBytes, cudaMemcpyDeviceToHost);
    std::memset(before.data(), filling(i), 4);
    for (std::size_t at = 0; at < kBytes; at += 4) {
      if (std::memcmp(now.data() + at, before.data(), 4) != 0)
        std::printf("wrote %zu\n", reinterpret_cast<std::size_t>(buffers[i]) + at);
    }
  }
}

int main() {
  for (auto& one : buffers) cudaMalloc(&one, kBytes);
  auto* a = buffer<float>(0);
  auto* b = buffer<float>(1);
  auto* c = buffer<float>(2);
  const float* in = a;
  const dim3 tiles(3, 2), tile(8, 4);
  run("vector_sum", 3, 32, vector_sum, in, (const float*)b, c, 70);
  run("stencil", tiles, tile, stencil, in, b, 20, 7);
  run("tiled_product", dim3(2, 2), dim3(16, 16), tiled_product, in, (const float*)b, c, 20);
  run("tiled_transpose", dim3(2, 2), dim3(32, 8), tiled_transpose, b, in, 40, 33);
  run("bodies", 2, 16, bodies, (const float4*)a, (float4*)b, 32);
  run("points_to_features", 2, 32, points_to_features, in, b, 50, 5);
  run("grid_stride", 2, 16, grid_stride, std::size_t{100}, a);
  run("halves", 2, 16, halves, a, 25);
  run("transposed_by_one_index", 2, 32, transposed_by_one_index, a, 7, 6);
  run("of_struct", 2, 16, of_struct, b, Two{1, {a, 27, 3}});
  run("leaves_early", 2, 16, leaves_early, b, in, 27u);
  run("of_template", 2, 16, of_template<double, 4>, (double*)a, 101);
  run("behind", 2, 16, behind, b, in);
  run("one_before", 2, 16, one_before, b, in, 27u);
  run("triangle", 2, 8, triangle, a, 13);
  run("counts_in_64_bits", 2, 16, counts_in_64_bits, a, 40L, 12L);
  run("ends_with_its_condition", 2, 4, ends_with_its_condition, a, 6);
  run("ends_with_its_condition", 2, 4, ends_with_its_condition, a, -3);
  run("until_found", 2, 16, until_found, (int*)b, (const int*)a, 100);
  run("where_positive", 2, 16, where_positive, b, in, 27);
  run("at_either_end", 4, 32, at_either_end, a);
  run("clamped", 2, 16, clamped, b, in, 27);
  run("downwards", 1, 16, downwards, a, 9);
  run("by_pointer", 2, 16, by_pointer, a, 100);
  run("if_given", 2, 16, if_given, a, in);
  run("if_given", 2, 16, if_given, a, (const float*)nullptr);

  run("ghost_zone", 4, 32, ghost_zone, 3, in, b, 99);
  run("ghost_zone", 4, 32, ghost_zone, 1, in, b, 99);
  run("found_before", 2, 16, found_before, (const int*)a, (int*)b, 27, 4);
  run("butterfly", 2, 16, butterfly, a, 1u);
  run("butterfly", 2, 16, butterfly, a, 8u);
  run("butterfly", 2, 16, butterfly, a, 32u);
  run("pairs", 2, 16, pairs, (int*)a, 1);
  run("pairs", 2, 16, pairs, (int*)a, 16);
  run("pairs", 2, 16, pairs, (int*)a, 6);
  run("in_24_bits", tiles, tile, in_24_bits, a, 20, 7);
  run("rows_of_a_power", 3, 8, rows_of_a_power, a, 5);
  run("warps_and_lanes", 2, 64, warps_and_lanes, a);
  run("quarters", 4, 16, quarters, a, 58);
  run("chunks", 4, 8, chunks, a, 58u);
  run("clamped_unsigned", 2, 16, clamped_unsigned, b, in, 27u);

  run("skips_rounds", 2, 4, skips_rounds, a, 9);
  run("breaks_off", 2, 4, breaks_off, a, 9, 4);
  run("breaks_off", 2, 4, breaks_off, a, 3, 40);
  run("leaves_from_loop", 2, 4, leaves_from_loop, a, 5);
  run("do_and_continue", 2, 4, do_and_continue, a, 8);
  run("one_or_other", 2, 16, one_or_other, a, 25, true);
  run("one_or_other", 2, 16, one_or_other, a, 25, false);
  run("chooses", 2, 8, chooses, a, 400);
  run("until_equal", 2, 8, until_equal, a, 5);
  run("until_equal", 2, 8, until_equal, a, 0);
  run("by_steps", 1, 8, by_steps, a, 3, 100, 20);
  run("carries_on", 2, 8, carries_on, a, 10);
  run("carries_on", 2, 8, carries_on, a, -2);
  run("nested", 2, dim3(4, 2), nested, a, 6);
  run("bits", 2, 20, bits, a, 9u);
  run("between", 2, 16, between, a, -3, 9);
  run("absolute", 2, 8, absolute, a, 5);
  run("lanes", 3, dim3(16, 8), lanes, a);
  run("two_guards", 2, 16, two_guards, a, 9, 20);
  run("corners", 2, dim3(10, 9), corners, a, 3, 5);
  return 0;
}
