#pragma once
// What the random kernels run on: memory with contents by seed, and a print of all that they left.
//
// Kernels compute with unsigned integers alone, which all types of elements hold exactly (number, Element::of): results do not depend on
// how a compiler rounds.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#ifdef NUNA_REFERENCE
#include "reference.hpp"
#else
#define LAUNCH(kernel, grid, block, dynamic_bytes, ...) kernel<<<grid, block, dynamic_bytes>>>(__VA_ARGS__)
#endif

struct Triple {
  float x, y, z;
};
struct Bytes3 {
  unsigned char a, b, c;
};
/// With holes: kernels write its members one by one.
struct Cell {
  unsigned char a;
  int b;
  double c;
  short d;
};

__host__ __device__ inline unsigned number(float v) { return static_cast<unsigned>(static_cast<int>(v)); }
__host__ __device__ inline unsigned number(double v) { return static_cast<unsigned>(static_cast<int>(v)); }
__host__ __device__ inline unsigned number(int v) { return static_cast<unsigned>(v); }
__host__ __device__ inline unsigned number(unsigned char v) { return v; }
__host__ __device__ inline unsigned number(short v) { return static_cast<unsigned short>(v); }
__host__ __device__ inline unsigned number(long long v) { return static_cast<unsigned>(v ^ (v >> 32)); }
__host__ __device__ inline unsigned number(float4 v) {
  return number(v.x) + 3 * number(v.y) + 5 * number(v.z) + 7 * number(v.w);
}
__host__ __device__ inline unsigned number(int2 v) { return number(v.x) + 3 * number(v.y); }
__host__ __device__ inline unsigned number(Triple v) {
  return number(v.x) + 3 * number(v.y) + 5 * number(v.z);
}
__host__ __device__ inline unsigned number(Bytes3 v) { return v.a + 3u * v.b + 5u * v.c; }
__host__ __device__ inline unsigned number(const Cell& v) {
  return v.a + 3u * number(v.b) + 5u * number(v.c) + 7u * number(v.d);
}

template <class T>
struct Element {
  __host__ __device__ static T of(unsigned v) { return static_cast<T>(v & 0xffff); }
};
template <>
struct Element<int> {
  __host__ __device__ static int of(unsigned v) { return static_cast<int>(v); }
};
template <>
struct Element<long long> {
  __host__ __device__ static long long of(unsigned v) { return static_cast<long long>(v) * 0x100000003ll; }
};
template <>
struct Element<float4> {
  __host__ __device__ static float4 of(unsigned v) {
    const auto f = [](unsigned u) { return static_cast<float>(u & 0xffff); };
    return make_float4(f(v), f(v + 1), f(v + 2), f(v >> 3));
  }
};
template <>
struct Element<int2> {
  __host__ __device__ static int2 of(unsigned v) {
    return make_int2(static_cast<int>(v), static_cast<int>(v >> 5));
  }
};
template <>
struct Element<Triple> {
  __host__ __device__ static Triple of(unsigned v) {
    return {static_cast<float>(v & 0xffff), static_cast<float>(v >> 16), static_cast<float>(v >> 20)};
  }
};
template <>
struct Element<Bytes3> {
  __host__ __device__ static Bytes3 of(unsigned v) {
    return {static_cast<unsigned char>(v), static_cast<unsigned char>(v >> 8),
            static_cast<unsigned char>(v >> 16)};
  }
};

inline void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::printf("%s: %s\n", what, cudaGetErrorString(error));
  std::fflush(stdout);
  std::exit(1);
}

/// The launches of one seed.
class Run {
 public:
  Run(int seed, bool dump)
      : seed_(seed), dump_(dump), state_(static_cast<std::uint64_t>(seed) * 2654435761u + 99) {}

  /// An allocation; nothing else lies in it.
  template <class T>
  T* make(std::size_t count) {
    std::vector<T> values(count);
    std::memset(static_cast<void*>(values.data()), 0, count * sizeof(T));
    for (T& value : values) set(value);
    return upload(values);
  }
  /// Numbers below `end`; each once, if there are as many of both.
  int* make_indices(std::size_t count, unsigned end) {
    std::vector<int> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<int>(i % end);
    for (std::size_t i = count; i > 1; --i) std::swap(values[i - 1], values[random() % i]);
    return upload(values);
  }
  /// Pointers to places in what was allocated.
  template <class T>
  T** make_pointers(T* first, std::size_t count, std::size_t stride) {
    std::vector<T*> values;
    for (std::size_t i = 0; i < count; ++i) values.push_back(first + i * stride);
    T** made = nullptr;
    check(cudaMalloc(&made, count * sizeof(T*)), "cudaMalloc");
    check(cudaMemcpy(made, values.data(), count * sizeof(T*), cudaMemcpyHostToDevice), "cudaMemcpy");
    others_.push_back(made);
    return made;
  }
  /// For a variable of the device.
  std::vector<unsigned> numbers(std::size_t count) {
    std::vector<unsigned> values(count);
    for (unsigned& value : values) value = random();
    return values;
  }
  /// Bytes that the host looks at between launches.
  void look(const void* from, std::size_t bytes) {
    std::vector<unsigned char> here(bytes);
    check(cudaMemcpy(here.data(), from, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
    for (const unsigned char byte : here) mix(byte);
  }
  template <class T>
  void look_at(const T* values, std::size_t count) {
    for (std::size_t i = 0; i < count * sizeof(T); ++i)
      mix(reinterpret_cast<const unsigned char*>(values)[i]);
  }

  void finish() {
    check(cudaGetLastError(), "launch");
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    std::string text;
    for (std::size_t m = 0; m < all_.size(); ++m) {
      std::vector<unsigned char> here(all_[m].bytes);
      check(cudaMemcpy(here.data(), all_[m].memory, here.size(), cudaMemcpyDeviceToHost), "cudaMemcpy");
      for (std::size_t i = 0; i < here.size(); ++i) mix(here[i]);
      for (std::size_t i = 0; dump_ && i < here.size(); i += 4) {
        char line[64];
        std::snprintf(line, sizeof line, "seed %d a%zu+%zu", seed_, m, i);
        text += line;
        for (std::size_t j = i; j < here.size() && j < i + 4; ++j) {
          std::snprintf(line, sizeof line, " %02x", here[j]);
          text += line;
        }
        text += "\n";
      }
    }
    std::printf("%sseed %d hash %016llx\n", text.c_str(), seed_, static_cast<unsigned long long>(hash_));
    std::fflush(stdout);
    for (const Allocation& each : all_) check(cudaFree(each.memory), "cudaFree");
    for (void* each : others_) check(cudaFree(each), "cudaFree");
  }

 private:
  struct Allocation {
    void* memory;
    std::size_t bytes;
  };

  unsigned random() {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<unsigned>(state_ >> 33);
  }
  template <class T>
  void set(T& value) {
    value = Element<T>::of(random());
  }
  void set(Cell& value) {
    value.a = static_cast<unsigned char>(random());
    value.b = static_cast<int>(random());
    value.c = random() & 0xffff;
    value.d = static_cast<short>(random());
  }
  template <class T>
  T* upload(const std::vector<T>& values) {
    T* made = nullptr;
    check(cudaMalloc(&made, values.size() * sizeof(T)), "cudaMalloc");
    check(cudaMemcpy(made, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
    all_.push_back({made, values.size() * sizeof(T)});
    return made;
  }
  void mix(unsigned char byte) { hash_ = (hash_ ^ byte) * 1099511628211ull; }

  const int seed_;
  const bool dump_;
  std::uint64_t state_;
  std::uint64_t hash_ = 14695981039346656037ull;
  std::vector<Allocation> all_;
  std::vector<void*> others_;
};

/// [--dump] [seed...]: all seeds if none is named.
struct Wanted {
  bool dump = false;
  std::vector<int> seeds;

  Wanted(int count, char** arguments) {
    for (int i = 1; i < count; ++i) {
      if (std::strcmp(arguments[i], "--dump") == 0) {
        dump = true;
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
