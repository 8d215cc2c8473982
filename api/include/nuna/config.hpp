#pragma once
// Macros shared by all public headers: symbol visibility and the qualifiers that let one kernel source
// compile for the CPU (any compiler) and for the GPU (nvcc).

#define NUNA_API __attribute__((visibility("default")))

#if defined(__CUDACC__)
#define NUNA_HOST_DEVICE __host__ __device__
#else
#define NUNA_HOST_DEVICE
#endif

// Marks the call operator of a kernel.
#define NUNA_KERNEL NUNA_HOST_DEVICE inline __attribute__((always_inline))

// Inlines all that a function calls, so that loops over the threads of a block see what they do. Not a device's business.
#if defined(__CUDA_ARCH__)
#define NUNA_FLATTEN
#else
#define NUNA_FLATTEN __attribute__((flatten))
#endif

// Threads of one launch are unordered, so the loop that runs them on a CPU carries no dependence.
#if defined(__clang__)
#define NUNA_INDEPENDENT_ITERATIONS _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define NUNA_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#else
#define NUNA_INDEPENDENT_ITERATIONS
#endif
