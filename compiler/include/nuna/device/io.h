#pragma once
/* What a kernel says and how it stops: assert, __trap, clocks. printf, malloc and free are the C library's (standard.h), so
 * printf writes to the program's stdout at once, in the order of its calls. */

#include "nuna/device/intrinsics.h"
#include "nuna/device/standard.h"

/* cudaErrorAssert, whose header may not be there yet; and what stands for __trap() and abort(), which nothing has told of yet. */
#define NUNA_ERROR_ASSERT 710
#define NUNA_ERROR_TRAP 0

extern "C" {
/* What the macro assert of <assert.h> expands to. */
static __device__ __attribute__((noinline, noreturn, cold, unused)) void __assert_fail(
    const char* condition, const char* file, unsigned line, const char* function) noexcept {
  dprintf(__nuna_error_output(), "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",
          file, line, function, __nuna_sreg(3), __nuna_sreg(4), __nuna_sreg(5), __nuna_sreg(0),
          __nuna_sreg(1), __nuna_sreg(2), condition);
  __nuna_end_kernel(NUNA_ERROR_ASSERT);
}

static __device__ __attribute__((noreturn, unused)) inline void __assertfail(const char* condition,
                                                                             const char* file, unsigned line,
                                                                             const char* function, size_t) {
  __assert_fail(condition, file, line, function);
}

static __device__ __attribute__((noreturn, unused)) inline void __trap() {
  __nuna_end_kernel(NUNA_ERROR_TRAP);
}
static __device__ __attribute__((noreturn, unused)) inline void abort() noexcept {
  __nuna_end_kernel(NUNA_ERROR_TRAP);
}
NUNA_DEVICE void __brkpt() {}
NUNA_DEVICE void __prof_trigger(int) {}

NUNA_DEVICE clock_t clock() noexcept { return (clock_t)__builtin_readcyclecounter(); }
NUNA_DEVICE long long clock64() { return (long long)__builtin_readcyclecounter(); }
NUNA_DEVICE void __nanosleep(unsigned) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
}

#undef NUNA_ERROR_ASSERT
#undef NUNA_ERROR_TRAP
