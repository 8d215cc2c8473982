#include "nuna/error.hpp"

namespace nuna {
inline namespace v0 {

const char* to_string(ErrorCode code) {
  switch (code) {  // without a default, so that the compiler names a code that is missing here
    case ErrorCode::invalid_argument:
      return "invalid_argument";
    case ErrorCode::out_of_bounds:
      return "out_of_bounds";
    case ErrorCode::overlapping_writes:
      return "overlapping_writes";
    case ErrorCode::conflicting_writes:
      return "conflicting_writes";
    case ErrorCode::unequal_fill:
      return "unequal_fill";
    case ErrorCode::out_of_memory:
      return "out_of_memory";
    case ErrorCode::not_nuna_pointer:
      return "not_nuna_pointer";
    case ErrorCode::already_released:
      return "already_released";
    case ErrorCode::kernel_failed:
      return "kernel_failed";
    case ErrorCode::diverged:
      return "diverged";
    case ErrorCode::stalled:
      return "stalled";
    case ErrorCode::concurrent_use:
      return "concurrent_use";
    case ErrorCode::never_written:
      return "never_written";
    case ErrorCode::too_few_blocks:
      return "too_few_blocks";
    case ErrorCode::bad_setting:
      return "bad_setting";
    case ErrorCode::input_output:
      return "input_output";
    case ErrorCode::unsupported:
      return "unsupported";
    case ErrorCode::device_failed:
      return "device_failed";
    case ErrorCode::device_lost:
      return "device_lost";
  }
  return "unknown";
}

}  // namespace v0
}  // namespace nuna
