#pragma once
// The device boundary: what Nuna needs of anything that has memory and runs kernels.
//
// Operations return at once with a Ticket. A Device has two kinds of in-order *lanes*: kernels and fills go through one,
// copies through others (or the same; copies in one direction through one). An operation starts after those submitted before it
// on its lane and after every ticket in `after` (of any lane or wire); a lane completes in order. What must follow an operation
// of another lane names its ticket. When a ticket in `after` has failed, the operation is skipped and fails with the same
// failure. Deadlock is impossible as long as tickets are waited for by later submissions only.
//
// Threads: submissions to one device come from one thread at a time (the executor's lock); tickets may be tested
// and waited for from anywhere. Memory handed to an operation must stay committed until its ticket completes;
// arguments are copied. A device's destructor completes all that was submitted.
//
// Failures: commit() throws nuna::Error (out_of_memory) with sizes and changes nothing; submissions do not throw; a kernel that
// throws, or that the device cannot run, fails its ticket with ErrorCode::kernel_failed or unsupported, naming kernel and
// device. A device that breaks fails all its operations with ErrorCode::device_lost, from then on.

#include <absl/container/inlined_vector.h>

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/boxes.hpp"
#include "base/timeline.hpp"
#include "device/region.hpp"
#include "nuna/instance.hpp"

namespace nuna::device {

struct Properties {
  std::string name;                 ///< for people and traces: "host:1"
  int threads = 1;                  ///< that run a kernel at once
  std::size_t memory_bytes = 0;     ///< that instances may use
  bool shares_host_memory = false;  ///< its memory is the host place: no copies between the two
  bool host_accessible = false;     ///< the CPU, and so the network, may read and write its memory in place
  bool runs_host_code = true;       ///< kernels are the CPU's functions
};

/// A box of threads of one kernel with its arguments' instances on this device.
struct KernelCall {
  std::string_view name;  ///< outlives the call
  detail::KernelCode code;
  std::shared_ptr<const void> closure;
  Box threads;
  detail::BlockGrid blocks;  ///< no block of a kernel of Form::blocks is cut
  absl::InlinedVector<detail::InstanceView, 6> views;
  /// It takes so little time that the thread that submits it may run it, if it can begin at once.
  bool brief = false;
};

using After = std::span<const base::Ticket>;

class Device {
 public:
  virtual ~Device() = default;

  virtual const Properties& properties() const = 0;

  /// Bytes of the device's address range.
  virtual Index range_bytes() const = 0;
  /// Start of the device's address range; an instance at offset o of its arena lies at base() + o in every
  /// place of the rank (D1). Readable and writable only where committed.
  virtual std::byte* base() const = 0;
  /// Whether memory that the program got by itself is of this device: the CPU's, or this GPU's.
  virtual bool holds(const void* memory) const = 0;
  /// Makes [begin, end) of the range usable; its contents are unspecified. Idempotent.
  virtual void commit(Interval bytes) = 0;
  /// Gives the memory behind [begin, end) back. The caller has waited for its users.
  virtual void release(Interval bytes) = 0;

  /// Runs a kernel's threads.
  virtual base::Ticket run(KernelCall call, After after) = 0;
  /// Copies bytes between this device's memory and any memory that it can reach; both regions hold the same
  /// number of bytes, in the same order of runs, possibly cut into runs of different lengths.
  virtual base::Ticket copy(const Region& to, const Region& from, After after) = 0;
  /// Fills a region of this device's memory with one byte value.
  virtual base::Ticket fill(const Region& to, std::byte value, After after) = 0;
  /// Completes when everything submitted so far, on all lanes, and `after` have: a joint for waiting.
  virtual base::Ticket join(After after) = 0;
};

}  // namespace nuna::device
