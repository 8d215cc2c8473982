#pragma once
// Failures of the world, named by what the caller can do about them.
//
// A broken invariant of Nuna's own never comes this way: it stops the process. Every Error's text is one line:
// what was refused, why, and what to do.

#include <stdexcept>
#include <string>

#include "nuna/config.hpp"

namespace nuna {
inline namespace v0 {

enum class ErrorCode {
  invalid_argument,    ///< mend the argument
  out_of_bounds,       ///< the access map leaves the buffer: mend the map, the domain or the buffer
  overlapping_writes,  ///< two partitions write the same element: cut along another axis or mend the map
  conflicting_writes,  ///< ranks changed the same byte to different values
  unequal_fill,        ///< ranks filled a write-only view differently
  out_of_memory,       ///< use smaller buffers, more devices, or a higher NUNA_MEMORY_LIMIT
  not_nuna_pointer,    ///< the pointer belongs to no buffer of this context
  already_released,    ///< the buffer or view was released before
  kernel_failed,       ///< a kernel threw; what it wrote is unusable
  diverged,            ///< ranks made different calls
  stalled,             ///< a peer did not answer within NUNA_STALL seconds
  concurrent_use,      ///< two threads inside one replicated context
  never_written,       ///< check mode: bytes that nobody wrote were read
  too_few_blocks,      ///< a cut asks for more parts than there are blocks
  bad_setting,         ///< an environment variable or option has no meaning
  input_output,        ///< a file could not be read or written
  unsupported,         ///< this build or machine cannot do it
  device_failed,       ///< a device's driver refused a call: the text says which and why
  device_lost,         ///< a device broke (a kernel faulted, a card vanished): end the process and start anew
};

/// The code's name, for example "overlapping_writes".
NUNA_API const char* to_string(ErrorCode code);

class NUNA_API Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& text) : std::runtime_error(text), code_(code) {}
  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace v0
}  // namespace nuna
