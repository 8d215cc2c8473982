#include "cpu_features.hpp"

#include <array>

namespace nuna::cudart {
namespace {

struct Feature {
  std::string_view name;
  bool here;
};

}  // namespace

bool has_cpu_feature(std::string_view name) {
  __builtin_cpu_init();
  static const std::array features = {
      Feature{"sse3", __builtin_cpu_supports("sse3") != 0},
      Feature{"ssse3", __builtin_cpu_supports("ssse3") != 0},
      Feature{"sse4.1", __builtin_cpu_supports("sse4.1") != 0},
      Feature{"sse4.2", __builtin_cpu_supports("sse4.2") != 0},
      Feature{"popcnt", __builtin_cpu_supports("popcnt") != 0},
      Feature{"avx", __builtin_cpu_supports("avx") != 0},
      Feature{"avx2", __builtin_cpu_supports("avx2") != 0},
      Feature{"fma", __builtin_cpu_supports("fma") != 0},
      Feature{"bmi", __builtin_cpu_supports("bmi") != 0},
      Feature{"bmi2", __builtin_cpu_supports("bmi2") != 0},
      Feature{"f16c", __builtin_cpu_supports("f16c") != 0},
      Feature{"lzcnt", __builtin_cpu_supports("lzcnt") != 0},
      Feature{"avx512f", __builtin_cpu_supports("avx512f") != 0},
      Feature{"avx512vl", __builtin_cpu_supports("avx512vl") != 0},
      Feature{"avx512bw", __builtin_cpu_supports("avx512bw") != 0},
      Feature{"avx512dq", __builtin_cpu_supports("avx512dq") != 0},
      Feature{"avx512cd", __builtin_cpu_supports("avx512cd") != 0},
      Feature{"avx512ifma", __builtin_cpu_supports("avx512ifma") != 0},
      Feature{"avx512vbmi", __builtin_cpu_supports("avx512vbmi") != 0},
      Feature{"avx512vbmi2", __builtin_cpu_supports("avx512vbmi2") != 0},
      Feature{"avx512vnni", __builtin_cpu_supports("avx512vnni") != 0},
      Feature{"avx512bitalg", __builtin_cpu_supports("avx512bitalg") != 0},
      Feature{"avx512vpopcntdq", __builtin_cpu_supports("avx512vpopcntdq") != 0},
      Feature{"avx512bf16", __builtin_cpu_supports("avx512bf16") != 0},
  };
  for (const Feature& feature : features) {
    if (feature.name == name) return feature.here;
  }
  return true;
}

}  // namespace nuna::cudart
