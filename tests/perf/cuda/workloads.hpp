#pragma once
// What kernels.cu and peer_loops.cpp have in common: the sizes, the inputs, the constants of the formulas, and the line
// that each prints for a kernel.
//
//   kernels|peer_loops [--repetitions N] [--threads N] [NAME...]
//
// A line is a JSON object {name, threads, ms, sum}: the median of N repetitions after one of warm-up, and a sum of the
// results, by which run.py sees that both computed the same.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace workloads {

inline constexpr int kMatrix = 512;
inline constexpr int kTile = 16;
inline constexpr int kBodies = 8192;
inline constexpr int kGrid = 4096;
inline constexpr int kPyramid = 2;  // time steps of a hotspot launch
inline constexpr int kVector = 16 << 20;
inline constexpr int kEmptyLaunches = 2000;

inline constexpr float kSoftening = 1e-6f;
inline constexpr float kTimeStep = 1e-3f;
inline constexpr float kAmbient = 80.0f;
inline constexpr float kPower = 0.1f, kAlongY = 0.2f, kAlongX = 0.21f, kAir = 0.001f;

struct Options {
  int repetitions = 5;
  int threads = 1;
  std::vector<std::string> names;

  bool wants(const char* name) const {
    return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
  }
};

inline Options read_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const bool number = i + 1 < argc && argv[i][0] == '-' && std::atoi(argv[i + 1]) > 0;
    if (number && std::strcmp(argv[i], "--repetitions") == 0) {
      options.repetitions = std::atoi(argv[++i]);
    } else if (number && std::strcmp(argv[i], "--threads") == 0) {
      options.threads = std::atoi(argv[++i]);
    } else if (argv[i][0] != '-') {
      options.names.emplace_back(argv[i]);
    } else {
      std::fprintf(stderr, "usage: %s [--repetitions N] [--threads N] [NAME...]\n", argv[0]);
      std::exit(2);
    }
  }
  return options;
}

/// Values in [least, least + range) that are the same in every run.
inline std::vector<float> values(std::size_t count, unsigned seed, float least = 0, float range = 1) {
  std::vector<float> all(count);
  for (float& value : all) {
    seed = seed * 1664525u + 1013904223u;
    value = least + range * static_cast<float>(seed >> 8) / 16777216.0f;
  }
  return all;
}

/// x, y, z and the mass of each body.
inline std::vector<float> bodies() {
  std::vector<float> all = values(std::size_t(kBodies) * 4, 3);
  for (std::size_t i = 3; i < all.size(); i += 4) all[i] = (0.5f + all[i]) / kBodies;
  return all;
}

inline double sum_of(const float* first, std::size_t count) {
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += first[i];
  return sum;
}

inline double median(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return samples[samples.size() / 2];
}

inline void print_line(const char* name, int threads, double milliseconds, double sum) {
  std::printf("{\"name\": \"%s\", \"threads\": %d, \"ms\": %.6f, \"sum\": %.9g}\n", name, threads,
              milliseconds, sum);
  std::fflush(stdout);
}

}  // namespace workloads
