#pragma once
// Ends the program, with a line, at the first call of the CUDA runtime that fails.

#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                             \
  do {                                                          \
    const cudaError_t error_ = (call);                          \
    if (error_ != cudaSuccess) {                                \
      std::printf("%s: %s\n", #call, cudaGetErrorName(error_)); \
      std::exit(1);                                             \
    }                                                           \
  } while (0)
