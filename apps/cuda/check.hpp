#pragma once
// What the programs of this folder share: a failed CUDA call ends the program with its place, arguments are whole numbers
// within bounds, and the outcome is one line that ends in PASS or FAIL.

#include <cuda_runtime.h>

#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK_CUDA(call) check_cuda((call), #call, __FILE__, __LINE__)

inline void check_cuda(cudaError_t error, const char* call, const char* file, int line) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s:%d: %s: %s\n", file, line, call, cudaGetErrorString(error));
  std::exit(1);
}

/// The arguments of a program: whole numbers by position, each with a default. A bad one prints the usage, and ends.
class Arguments {
 public:
  Arguments(int count, char** words, int most, const char* usage)
      : count_(count), words_(words), usage_(usage) {
    if (count > most + 1) fail();
  }

  int number(int position, int fallback, int least, int most) const {
    if (position >= count_) return fallback;
    char* end = nullptr;
    const long value = std::strtol(words_[position], &end, 10);
    if (end == words_[position] || *end != '\0' || value < least || value > most) fail();
    return static_cast<int>(value);
  }

  /// Null where it is not given.
  const char* text(int position) const { return position < count_ ? words_[position] : nullptr; }

  [[noreturn]] void fail() const {
    std::fprintf(stderr, "usage: %s %s\n", words_[0], usage_);
    std::exit(2);
  }

 private:
  int count_;
  char** words_;
  const char* usage_;
};

/// Values in [0, 1) that are the same in every run.
inline std::vector<float> random_values(std::size_t count, unsigned seed) {
  std::vector<float> values(count);
  for (float& value : values) {
    seed = seed * 1664525u + 1013904223u;
    value = static_cast<float>(seed >> 8) / 16777216.0f;
  }
  return values;
}

/// The largest difference, relative to the larger of 1 and what is expected; infinite where a value is not a number.
template <typename T>
double largest_error(const std::vector<T>& found, const std::vector<T>& expected) {
  if (found.size() != expected.size()) return HUGE_VAL;
  double largest = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double difference = std::fabs(double(found[i]) - double(expected[i]));
    const double error = difference / std::fmax(1.0, std::fabs(double(expected[i])));
    if (!(error <= largest)) largest = std::isnan(error) ? HUGE_VAL : error;
  }
  return largest;
}

/// Prints the line, and gives the exit status of main.
inline int report(bool right, const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  std::vprintf(format, arguments);
  va_end(arguments);
  std::printf(": %s\n", right ? "PASS" : "FAIL");
  return right ? 0 : 1;
}
