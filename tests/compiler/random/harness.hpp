#pragma once
// What the random kernels run on: memory with fixed contents, a launch, and a print of what it left. With NUNA_REFERENCE
// the device is the interpreter of reference.hpp, else it is CUDA's.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#ifdef NUNA_REFERENCE
#include "reference.hpp"
#else
#define LAUNCH(kernel, launch, ...) \
  kernel<<<(launch).grid, (launch).block, (launch).dynamic_bytes>>>(__VA_ARGS__)
#define DYNAMIC_SHARED(name) extern __shared__ __align__(16) unsigned char name[]
#endif

struct Parameters {
  unsigned a;
  float b;
  unsigned char c;
  unsigned t[4];
  unsigned long long w;
};

/// Keeps floats where all their bits are defined: no NaN, no infinity.
__host__ __device__ inline float tame(float x) { return x > -1.0e6f && x < 1.0e6f ? x : 7.5f; }

/// The seeds to run: all if none is named.
struct Wanted {
  bool dump = false;
  std::vector<int> seeds;

  Wanted(int count, char** arguments) {
    for (int i = 1; i < count; ++i) {
      if (std::strcmp(arguments[i], "--dump") == 0) {
        dump = true;
      } else if (std::strcmp(arguments[i], "--backwards") == 0) {
#ifdef NUNA_REFERENCE
        reference::backwards = true;
#endif
      } else {
        seeds.push_back(std::atoi(arguments[i]));
      }
    }
  }
  bool has(int seed) const {
    for (const int wanted : seeds) {
      if (wanted == seed) return true;
    }
    return seeds.empty();
  }
};

class Launch {
 public:
  Launch(int seed, int number, dim3 launch_grid, dim3 launch_block, unsigned bytes)
      : grid(launch_grid), block(launch_block), dynamic_bytes(bytes), seed_(seed), number_(number) {
    state_ = static_cast<std::uint64_t>(seed) * 2654435761u + static_cast<unsigned>(number);
    const std::size_t blocks = std::size_t{grid.x} * grid.y * grid.z;
    const std::size_t threads = blocks * block.x * block.y * block.z;
    in_u = make<unsigned>("in_u", inputs, [&] { return random(); });
    in_f = make<float>("in_f", inputs, [&] {
      return static_cast<float>(static_cast<int>(random() % 4001u) - 2000) * 0.03125f;
    });
    out_u = make<unsigned>("out_u", threads * kSlots, [] { return 0u; });
    out_f = make<float>("out_f", threads * kSlots, [] { return 0.0f; });
    unsigned cell = 0;
    g_acc = make<unsigned>("g_acc", 128, [&] { return cell++ / 8 == 4 ? ~0u : 0u; });
    g_wide = make<unsigned long long>("g_wide", 8, [] { return 0ull; });
    g_sum = make<float>("g_sum", 8, [] { return 0.0f; });
    scratch = make<unsigned>("scratch", blocks * 256, [] { return 0u; });
  }

  Parameters parameters() {
    Parameters made{};
    made.a = random();
    made.b = 1.5f;
    made.c = static_cast<unsigned char>(random());
    for (unsigned& t : made.t) t = random();
    made.w = random() * 4294967297ull;
    return made;
  }

  /// Prints one hash of all memory, or every element.
  void finish(bool dump) {
#ifndef NUNA_REFERENCE
    const cudaError_t result = cudaDeviceSynchronize();
    if (result != cudaSuccess)
      std::printf("seed %d launch %d failed: %s\n", seed_, number_, cudaGetErrorString(result));
#endif
    std::uint64_t hash = 1469598103934665603u;
    for (auto& buffer : buffers_) {
      std::vector<unsigned char> bytes(buffer.bytes);
      fetch(bytes.data(), buffer);
      for (std::size_t at = 0; at < bytes.size(); at += buffer.element) {
        std::uint64_t value = 0;
        std::memcpy(&value, &bytes[at], buffer.element);
        hash = (hash ^ value) * 1099511628211u;
        if (dump && value != 0) {
          std::printf("seed %d launch %d %s[%zu] %016llx\n", seed_, number_, buffer.name, at / buffer.element,
                      static_cast<unsigned long long>(value));
        }
      }
      give_back(buffer);
    }
    std::printf("seed %d launch %d hash %016llx\n", seed_, number_, static_cast<unsigned long long>(hash));
    std::fflush(stdout);
  }

  static constexpr std::size_t kSlots = 48;  ///< results of a thread
  static constexpr unsigned inputs = 1021;
  dim3 grid, block;
  unsigned dynamic_bytes;
  unsigned *in_u, *out_u, *g_acc, *scratch;
  float *in_f, *out_f, *g_sum;
  unsigned long long* g_wide;

 private:
  struct Buffer {
    const char* name;
    void* data;
    std::size_t bytes, element;
  };

  unsigned random() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<unsigned>(state_ >> 33);
  }

  template <class T, class Make>
  T* make(const char* name, std::size_t count, Make value) {
    std::vector<T> host(count);
    for (T& element : host) element = value();
    Buffer buffer{name, nullptr, count * sizeof(T), sizeof(T)};
#ifdef NUNA_REFERENCE
    buffer.data = std::malloc(buffer.bytes);
    std::memcpy(buffer.data, host.data(), buffer.bytes);
#else
    cudaMalloc(&buffer.data, buffer.bytes);
    cudaMemcpy(buffer.data, host.data(), buffer.bytes, cudaMemcpyHostToDevice);
#endif
    buffers_.push_back(buffer);
    return static_cast<T*>(buffer.data);
  }
  static void fetch(void* to, const Buffer& buffer) {
#ifdef NUNA_REFERENCE
    std::memcpy(to, buffer.data, buffer.bytes);
#else
    cudaMemcpy(to, buffer.data, buffer.bytes, cudaMemcpyDeviceToHost);
#endif
  }
  static void give_back(const Buffer& buffer) {
#ifdef NUNA_REFERENCE
    std::free(buffer.data);
#else
    cudaFree(buffer.data);
#endif
  }

  int seed_, number_;
  std::uint64_t state_;
  std::vector<Buffer> buffers_;
};
