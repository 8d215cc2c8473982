#include "call.hpp"

#include <atomic>
#include <cstdio>
#include <mutex>
#include <new>
#include <set>
#include <string>

#include "nuna/error.hpp"

namespace nuna::cudart {
namespace {

std::atomic<cudaError_t> sticky{cudaSuccess};
std::atomic<bool> failure_told{false};
thread_local cudaError_t last = cudaSuccess;
thread_local int host_functions = 0;

}  // namespace

cudaError_t sticky_error() noexcept { return sticky.load(std::memory_order_acquire); }

void set_sticky_error(cudaError_t error) noexcept {
  cudaError_t none = cudaSuccess;
  sticky.compare_exchange_strong(none, error);
}

void clear_sticky_error() noexcept {
  sticky.store(cudaSuccess);
  failure_told.store(false);
}

bool claim_failure() noexcept { return !failure_told.exchange(true); }

cudaError_t remember(cudaError_t error) noexcept {
  if (error != cudaSuccess && error != cudaErrorNotReady) last = error;
  return error;
}

cudaError_t last_error(bool take) noexcept {
  const cudaError_t stays = sticky_error();
  if (stays != cudaSuccess) return stays;
  const cudaError_t error = last;
  if (take) last = cudaSuccess;
  return error;
}

InHostFunction::InHostFunction() noexcept { ++host_functions; }
InHostFunction::~InHostFunction() { --host_functions; }
bool InHostFunction::here() noexcept { return host_functions > 0; }

cudaError_t error_of_current_exception() noexcept {
  try {
    throw;
  } catch (const Refused& refused) {
    return refused.error;
  } catch (const std::bad_alloc&) {
    return cudaErrorMemoryAllocation;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::out_of_memory) return cudaErrorMemoryAllocation;
    std::fprintf(stderr, "nuna: %s\n", error.what());
    return error.code() == ErrorCode::bad_setting ? cudaErrorInitializationError : cudaErrorUnknown;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "nuna: %s\n", error.what());
    return cudaErrorUnknown;
  }
}

cudaError_t refuse_function(const char* function, const char* why) noexcept {
  static std::mutex mutex;
  static auto* const told = new std::set<std::string>;  // outlives what runs at exit
  try {
    const std::lock_guard lock(mutex);
    if (told->insert(function).second) std::fprintf(stderr, "nuna: %s %s\n", function, why);
  } catch (...) {  // one line less
  }
  return remember(cudaErrorNotSupported);
}

}  // namespace nuna::cudart
