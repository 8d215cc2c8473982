#pragma once
// Context: a set of devices, on one or many ranks, that run one program.

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "nuna/access_map.hpp"
#include "nuna/box.hpp"
#include "nuna/buffer.hpp"
#include "nuna/closure.hpp"
#include "nuna/config.hpp"
#include "nuna/domain.hpp"
#include "nuna/event.hpp"
#include "nuna/inspect.hpp"
#include "nuna/instance.hpp"

namespace nuna {
inline namespace v0 {

/// What kernels run on.
enum class DeviceKind {
  automatic,  ///< GPUs, if the driver shows some and the program has kernels for them; else the CPU (NUNA_DEVICE)
  host,       ///< the CPU's cores
  cuda,       ///< GPUs; ErrorCode::unsupported where there are none
};

/// How a Context is made. Zero means: from the environment, or Nuna's default.
struct Options {
  DeviceKind kind = DeviceKind::automatic;  ///< of all devices (NUNA_DEVICE, automatic)
  int devices = 0;  ///< per rank (NUNA_DEVICES; 1 host device, or a rank's share of the GPUs of its node)
  int threads_per_device = 0;  ///< worker threads of a host device (NUNA_THREADS, allowed cores / devices)
  std::size_t memory_limit_bytes = 0;  ///< of each memory (NUNA_MEMORY_LIMIT, the machine's)
  bool dry_run = false;                ///< plan and print, move nothing (NUNA_DRY_RUN=1)
  bool closed_memory =
      false;  ///< kernels of host devices that touch what is in no buffer fault at once. One rank, no host views of one device
};

namespace detail {

/// The name of a launch together with its call site.
struct LaunchName {
  const char* text;
  CallSite site;
  LaunchName(const char* name, const char* file = __builtin_FILE(),  // NOLINT(google-explicit-constructor)
             int line = __builtin_LINE())
      : text(name != nullptr ? name : ""), site{file, line} {}
};

struct LaunchArgument {
  const BufferHandle* buffer = nullptr;
  const AccessMap* map = nullptr;
  bool reads = false;
  bool writes = false;
  bool may = false;
  std::optional<int> device = std::nullopt;
};

struct LaunchRequest {
  const LaunchName* name = nullptr;
  const Domain* domain = nullptr;
  std::optional<int> device;  ///< the one that runs all of it
  const Extents* block = nullptr;
  const Extents* kernel_block = nullptr;  ///< what the kernel says of blocks, if it is one by block
  KernelCode code;
  std::shared_ptr<const void> closure;
  const LaunchArgument* arguments = nullptr;
  std::size_t argument_count = 0;
  /// Takes so little time, all parts together, that the calling thread may run it: to wake others would take longer. It must not
  /// touch host views, nor call Nuna.
  bool brief = false;
};

NUNA_API Event launch(ContextState& context, const LaunchRequest& request);

/// Every rank's bytes, by rank. Replicated.
NUNA_API std::vector<std::vector<std::byte>> gather(ContextState& context, const void* bytes,
                                                    std::size_t count, CallSite site);

}  // namespace detail

/// Where bytes of a 2-D or 3-D copy lie: rows of a plane are row_bytes apart, planes plane_bytes.
struct Pitched {
  void* pointer = nullptr;
  Index row_bytes = 0;
  Index plane_bytes = 0;
};
struct ConstPitched {
  const void* pointer = nullptr;
  Index row_bytes = 0;
  Index plane_bytes = 0;
};

/// Owns devices, buffers' address range, the directory of who holds what, and the sequence of calls.
///
/// A *self* Context has one rank; any thread may call it. A Context of several ranks is *replicated*: every rank makes
/// the same calls in the same order, from one thread at a time (a second thread inside is ErrorCode::concurrent_use;
/// ranks whose calls differ are ErrorCode::diverged, with both call sites).
///
/// Launches return at once; order follows from the data. Failures of what runs asynchronously surface at the wait,
/// fence or host access of what they touched. Move-only; outlives its buffers (a broken promise is reported and stops
/// the process). The destructor waits for everything.
class NUNA_API Context {
 public:
  /// All processes if launched by MPI (or if MPI is initialised), else this process alone. Reads `--devices N` from the arguments, which win over
  /// NUNA_DEVICES.
  static Context world(int argc, char** argv, Options options = {});
  /// This process alone.
  static Context self(Options options = {});
  /// The processes of an MPI communicator, which all call this. It is duplicated and stays the caller's; Contexts of
  /// several communicators live side by side. With less than MPI_THREAD_MULTIPLE messages move only inside calls of
  /// Nuna, and where MPI is for the main thread only, so are the Context's calls (concurrent_use). Errors: unsupported
  /// when Nuna was built without MPI, or on a thread that MPI is not for; invalid_argument for MPI_COMM_NULL and
  /// inter-communicators; bad_setting when the ranks' settings differ.
  template <class MpiCommunicator>
  static Context on(MpiCommunicator communicator, Options options = {}) {
    return over_mpi(static_cast<const void*>(&communicator), sizeof(MpiCommunicator), options);
  }
  /// Runs `body` once per rank on `ranks` threads of this process, each with its own rank's Context: the in-process
  /// cluster. Returns when all have ended; throws the failure of the rank that failed first, unless it only tells that
  /// another rank left (diverged, stalled) and one tells why.
  static void in_process(int ranks, const Options& options, const std::function<void(Context&)>& body);

  Context(Context&&) noexcept;
  Context& operator=(Context&&) noexcept;
  ~Context();

  int rank() const;
  int ranks() const;
  int devices() const;   ///< of this rank
  bool dry_run() const;  ///< plans are printed, nothing is computed (Options::dry_run, NUNA_DRY_RUN)

  /// Runs `kernel` for every thread of `domain`, split over all devices of all ranks. Arguments are buffers with
  /// their declared access (read, write, read_write, may_write) and plain trivially copyable values, in the order
  /// of the kernel's parameters behind its first: Thread for a kernel by thread (nuna/kernel.hpp), const Block& for one by
  /// block (nuna/block.hpp), const Part& for host code that is called once for each device's part (docs/kernels.md).
  /// What is wrong with the call is thrown before anything has moved
  /// (invalid_argument, out_of_bounds, overlapping_writes, too_few_blocks, already_released, out_of_memory, never_written,
  /// concurrent_use; docs/launches.md); before that, views that the launch closes may throw theirs. The name and the
  /// call site go into traces and errors.
  template <class Compiler = detail::ThisCompiler, class Kernel, class... Arguments>
  Event launch(detail::LaunchName name, const Domain& domain, const Extents& block, Kernel kernel,
               const Arguments&... arguments) {
    return launch_over<Compiler>(name, std::nullopt, domain, block, std::move(kernel), arguments...);
  }
  /// The same, all of it on one device of one rank: launch("sum", nuna::on(2), {n}, ...). The domain is not cut, so it asks for
  /// one part. A replicated call like any other. invalid_argument for a device that is not there.
  template <class Compiler = detail::ThisCompiler, class Kernel, class... Arguments>
  Event launch(detail::LaunchName name, OnDevice where, const Domain& domain, const Extents& block,
               Kernel kernel, const Arguments&... arguments) {
    return launch_over<Compiler>(name, where.device(), domain, block, std::move(kernel), arguments...);
  }
  /// Which memory a kernel on `device` uses for an argument, in a sentence: "device 0 uses the memory of device 1 in place", or
  /// that it uses a copy, and why. invalid_argument for a device that is not there.
  template <class T, int N>
  std::string describe(const Argument<T, N>& argument, int device) const {
    return describe_memory(argument.device, device);
  }

  /// Copies bytes between any two pointers, each of a buffer (see Buffer::address) or of the host. Buffers' bytes are
  /// the newest ones, wherever they are; with several ranks a host source must hold the same bytes on every rank
  /// (unequal_fill otherwise) and a host target is filled on every rank. Returns when host memory may be reused.
  void copy(void* to, const void* from, std::size_t bytes, const char* file = __builtin_FILE(),
            int line = __builtin_LINE());
  /// The same for a box of bytes: extents = {planes, rows, bytes}, {rows, bytes} or {bytes}.
  void copy(const Pitched& to, const ConstPitched& from, const Extents& bytes,
            const char* file = __builtin_FILE(), int line = __builtin_LINE());
  /// Copies a box of elements between buffers of one element size, device to device where the data is.
  template <class T, int N, int M>
  Event copy_box(Buffer<T, N>& to, const Box& to_box, const Buffer<T, M>& from, const Box& from_box,
                 const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return copy_boxes(std::nullopt, to.handle(), to_box, from.handle(), from_box, {file, line});
  }
  /// The same by one device, which then holds the copy.
  template <class T, int N, int M>
  Event copy_box(OnDevice where, Buffer<T, N>& to, const Box& to_box, const Buffer<T, M>& from,
                 const Box& from_box, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return copy_boxes(where.device(), to.handle(), to_box, from.handle(), from_box, {file, line});
  }
  /// Sets every element of a box to `value`, on the devices.
  template <class T, int N>
  Event fill(Buffer<T, N>& buffer, const Box& box, const T& value, const char* file = __builtin_FILE(),
             int line = __builtin_LINE()) {
    return fill_box(std::nullopt, buffer.handle(), box, &value, sizeof(T), {file, line});
  }
  template <class T, int N>
  Event fill(Buffer<T, N>& buffer, const T& value, const char* file = __builtin_FILE(),
             int line = __builtin_LINE()) {
    return fill_box(std::nullopt, buffer.handle(), Box(buffer.extents()), &value, sizeof(T), {file, line});
  }
  /// Sets every element, on one device.
  template <class T, int N>
  Event fill(OnDevice where, Buffer<T, N>& buffer, const T& value, const char* file = __builtin_FILE(),
             int line = __builtin_LINE()) {
    return fill_box(where.device(), buffer.handle(), Box(buffer.extents()), &value, sizeof(T), {file, line});
  }

  /// Waits until everything this rank was asked to do is done; throws the first failure since the last wait.
  void wait(const char* file = __builtin_FILE(), int line = __builtin_LINE());
  /// Waits until everything that touches `buffer` is done; throws its failure.
  template <class T, int N>
  void fence(const Buffer<T, N>& buffer, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    fence_buffer(buffer.handle(), {file, line});
  }

  /// Counters since the Context's start, as one JSON object: launches, bytes by route, planner and tracker nanoseconds,
  /// plan cache hits, fallbacks.
  std::string stats() const;
  /// Folds `value` over the ranks (rank order, so all get the same bits). The maximum is NaN when a rank's value is.
  /// Replicated.
  double sum(double value, const char* file = __builtin_FILE(), int line = __builtin_LINE());
  double max(double value, const char* file = __builtin_FILE(), int line = __builtin_LINE());

  /// What is known of a pointer of a buffer, be it of a host view (data), Buffer::address or a device's memory. What runs is not
  /// waited for: it counts as if it were over. Calls of one rank; nothing is moved or changed.
  /// Errors: invalid_argument for a null pointer; not_nuna_pointer where there is no buffer of this Context.
  ///
  /// owner: a memory that has the newest bytes at this address, of the rank that wrote them (never_written if nobody has).
  Memory owner(const void* pointer, const char* file = __builtin_FILE(), int line = __builtin_LINE()) const;
  /// All memories that have them, the owner first.
  std::vector<Memory> holders(const void* pointer, const char* file = __builtin_FILE(),
                              int line = __builtin_LINE()) const;
  /// Some lines for people: buffer and element, who holds it, operations in flight, the state of the host's block, open
  /// views with their places in the source. The format may change. For debuggers: nuna_describe.
  std::string describe(const void* pointer, const char* file = __builtin_FILE(),
                       int line = __builtin_LINE()) const;

  detail::ContextState& state() const;  ///< throws Error (invalid_argument) when the Context was moved from
  const std::shared_ptr<detail::ContextState>& state_ref() const { return state_; }

 private:
  static Context over_mpi(const void* communicator, std::size_t bytes, const Options& options);
  explicit Context(std::shared_ptr<detail::ContextState> state);

  template <class Compiler, class Kernel, class... Arguments>
  Event launch_over(const detail::LaunchName& name, std::optional<int> device, const Domain& domain,
                    const Extents& block, Kernel kernel, const Arguments&... arguments) {
    using Closure = detail::Closure<Compiler, Kernel, Arguments...>;
    detail::LaunchArgument buffers[Closure::kViews + 1];
    [[maybe_unused]] detail::LaunchArgument* next = buffers;  // unused by a launch without arguments
    (note_argument(arguments, next), ...);
    detail::LaunchRequest request;
    request.name = &name;
    request.domain = &domain;
    request.device = device;
    request.block = &block;
    request.kernel_block = detail::block_extents_of<Kernel>();
    request.code = detail::code_of<Closure>();
    request.closure = std::make_shared<const detail::HeldClosure<Closure>>(detail::HeldClosure<Closure>{
        {std::move(kernel), detail::pack(detail::Bound<Arguments>::store(arguments)...)},
        detail::grid_of(domain.frame(), block)});
    request.arguments = buffers;
    request.argument_count = Closure::kViews;
    return detail::launch(state(), request);
  }

  template <class A>
  static void note_argument(const A&, detail::LaunchArgument*&) {}
  template <class T, int N>
  static void note_argument(const Argument<T, N>& a, detail::LaunchArgument*& next) {
    *next++ = {a.buffer, &a.map, a.reads, a.writes, a.may, a.device};
  }
  Event copy_boxes(std::optional<int> device, const detail::BufferHandle& to, const Box& to_box,
                   const detail::BufferHandle& from, const Box& from_box, detail::CallSite site);
  Event fill_box(std::optional<int> device, const detail::BufferHandle& buffer, const Box& box,
                 const void* value, std::size_t bytes, detail::CallSite site);
  std::string describe_memory(std::optional<int> of_device, int device) const;
  void fence_buffer(const detail::BufferHandle& buffer, detail::CallSite site);

  std::shared_ptr<detail::ContextState> state_;
};

}  // namespace v0
}  // namespace nuna
