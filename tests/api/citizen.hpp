#pragma once
// For the tests of host pointers in processes that have a life of their own (signals, children, limits). Such a test runs
// in a child that ends by demand(), by a signal, or by its exit status.

#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "kernels.hpp"

namespace nuna::test {

// Sanitizers have a handler of SIGSEGV and signal masks of their own, and a report instead of a death by the signal:
// what a program's own handlers see is tested without them.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define NUNA_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define NUNA_TEST_SANITIZED 1
#endif
#endif

/// Safe in signal handlers.
inline void say(const char* text) {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text, std::strlen(text));
}

/// What does not hold ends the child.
inline void demand(bool holds, const char* what, int line = __builtin_LINE()) {
  if (holds) return;
  std::fprintf(stderr, "does not hold, line %d: %s\n", line, what);
  _exit(99);
}

/// A child that hangs dies by SIGALRM.
inline void hurry(unsigned seconds = 60) { alarm(seconds); }

/// A genuine segmentation fault, at address 8.
[[gnu::noinline]] inline void crash() {
  volatile std::uintptr_t nowhere = 8;
  *reinterpret_cast<volatile int*>(nowhere) = 1;  // NOLINT(performance-no-int-to-ptr)
}

/// The same, `depth` frames deeper.
[[gnu::noinline]] inline void crash_below(int depth) {
  volatile char frame[1000];
  frame[0] = static_cast<char>(depth);
  if (depth == 0) {
    crash();
  } else {
    crash_below(depth - 1);
  }
  frame[1] = frame[0];  // so that it is no tail call
}

/// A buffer that launches change on devices with memories of their own, and a pointer into it: all of its blocks are closed
/// again at each use.
class Used {
 public:
  static constexpr Index kInts = Index{1} << 20;  // 4 MiB
  explicit Used(int devices = 2) : context(Context::self(with_devices(devices))) {
    context.fill(x, 0);
    p = x.data();
  }
  /// Everywhere a launch adds one, and the host, here and there, another.
  void use(int line = __builtin_LINE()) {
    launch();
    for (Index i = 0; i < kInts; i += 50'000) {
      demand(p[i] == all_ + static_cast<int>(extra_), "the host sees what the launch wrote", line);
      p[i] += 1;
    }
    ++extra_;
  }
  /// Closes all blocks.
  void launch() {
    context.launch("add one", {kInts}, block(256), AddOne{}, read_write(x));
    ++all_;
  }

  Context context;
  Buffer<int, 1> x{context, {kInts}};
  int* p = nullptr;

 private:
  int all_ = 0;
  int extra_ = 0;
};

/// An alternate stack for the calling thread.
class AlternateStack {
 public:
  explicit AlternateStack(std::size_t bytes = 64 << 10) : memory_(bytes) {
    stack_t stack{};
    stack.ss_sp = memory_.data();
    stack.ss_size = bytes;
    demand(sigaltstack(&stack, nullptr) == 0, "sigaltstack");
  }

 private:
  std::vector<char> memory_;
};

}  // namespace nuna::test
