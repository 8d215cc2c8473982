#pragma once
// What every function of the API does around its work: who may call, what fails all calls, the calling thread's last error.

#include <exception>
#include <utility>

#include "cuda_runtime_api.h"
#include "host_thread.hpp"

namespace nuna::cudart {

/// Thrown by what an API function does; becomes what it returns.
struct Refused {
  cudaError_t error;
};
inline void require(bool holds, cudaError_t error) {
  if (!holds) throw Refused{error};
}

/// Errors of kernels stay: from then on every call that needs the device returns them, until cudaDeviceReset.
cudaError_t sticky_error() noexcept;
/// The first one counts.
void set_sticky_error(cudaError_t error) noexcept;
void clear_sticky_error() noexcept;
/// Whether the caller is the first to fail since then, and tells why: what fails with it fails by the same.
bool claim_failure() noexcept;

/// What the calling thread's cudaGetLastError returns next; a failure replaces it, a success does not. cudaErrorNotReady and the
/// like are answers and leave it alone.
cudaError_t remember(cudaError_t error) noexcept;
cudaError_t last_error(bool take) noexcept;

/// While one lives, its thread runs a function of the program in the order of a stream, which must not call CUDA.
class InHostFunction {
 public:
  InHostFunction() noexcept;
  ~InHostFunction();
  InHostFunction(const InHostFunction&) = delete;
  InHostFunction& operator=(const InHostFunction&) = delete;
  static bool here() noexcept;

 private:
  const InCallback thread_;
};

/// The error that stands for the exception being handled.
cudaError_t error_of_current_exception() noexcept;

/// Runs `work`, which returns nothing or an error, for functions that need no healthy device.
template <class Work>
cudaError_t plain_call(Work&& work) noexcept {
  const InLibrary here;
  try {
    if constexpr (std::is_void_v<decltype(work())>) {
      work();
      return cudaSuccess;
    } else {
      return remember(work());
    }
  } catch (...) {
    return remember(error_of_current_exception());
  }
}
/// The same for all others.
template <class Work>
cudaError_t device_call(Work&& work) noexcept {
  if (InHostFunction::here()) return remember(cudaErrorNotPermitted);
  if (const cudaError_t error = sticky_error(); error != cudaSuccess) return remember(error);
  return plain_call(std::forward<Work>(work));
}

/// Says on stderr, once for each name, that `function` does nothing; the error to return.
cudaError_t refuse_function(const char* function, const char* why = "is not supported") noexcept;

}  // namespace nuna::cudart
