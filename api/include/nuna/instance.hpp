#pragma once
// What a launch hands to a device: where each argument's instance lies, and the function that runs threads.
// Filled by the runtime, read by the launch templates; not for users.

#include <array>
#include <cstddef>
#include <cstdint>

#include "nuna/box.hpp"
#include "nuna/config.hpp"

namespace nuna {
inline namespace v0 {
namespace detail {

/// One buffer's instance in one memory. Element (i, j, k) of the buffer lies at
/// origin + i * stride[0] + j * stride[1] + k * stride[2] bytes, whatever part of the buffer the instance holds;
/// `origin` itself may therefore lie outside the instance.
struct InstanceView {
  char* origin = nullptr;
  std::array<Index, kMaxDims> stride_bytes{};
  Extents extents;  ///< of the whole buffer
};

/// Runs the threads of `threads` (in any order) of the kernel in `closure`, with one view per buffer argument.
/// May throw; may be called from several threads at once for disjoint boxes.
using RunFunction = void (*)(const void* closure, const Box& threads, const InstanceView* views);

/// What a kernel is called with: a thread, a block of threads, or a whole part of the launch (on the host, to call libraries).
enum class Form { threads, blocks, parts };

/// A variable of a CudaGrid's module, beside its bytes in host memory, which are the program's own.
struct CudaVariable {
  const char* name = nullptr;
  void* host = nullptr;
  std::size_t bytes = 0;
  bool written = false;  ///< the kernel writes it: the host gets what it leaves
};

/// What a part of a launch is on a CUDA device where the kernel is an entry of PTX text. Before the entry runs, its variables are
/// made equal to the host's.
struct CudaGrid {
  const char* module =
      nullptr;  ///< the text; outlives the devices, which load it once and know it by its address
  const char* entry = nullptr;
  std::array<std::uint32_t, 3> blocks{1, 1, 1};  ///< x first, as in the next
  std::array<std::uint32_t, 3> block{1, 1, 1};
  std::uint32_t dynamic_shared_bytes = 0;
  void** parameters = nullptr;  ///< one pointer each; read before the calling thread fills another CudaGrid
  const CudaVariable* variables = nullptr;
  std::size_t variable_count = 0;
};
/// Fills `grid` with what runs blocks of Form::blocks, with one view per buffer argument.
using GridFunction = void (*)(const void* closure, const Box& blocks, const InstanceView* views,
                              CudaGrid& grid);

/// How a CUDA device runs the same kernel. Its entry takes the closure, an array of the views (of one, which it does not
/// read, if there are none), the box of threads, and with Form::blocks the BlockGrid.
struct CudaKernel {
  /// Gives the entry as the current CUDA context knows it (a CUfunction), through the CUDA runtime that the program was linked
  /// with; returns that runtime's error, 0 for none.
  int (*find)(void** function) = nullptr;
  const char* (*error_text)(int error) = nullptr;
  const char* builtin = nullptr;  ///< instead of these: an entry of Nuna's own, by name
  GridFunction grid = nullptr;    ///< or an entry of PTX text, which takes its own parameters
};

/// Where a part runs, for kernels of Form::parts.
struct PartPlace {
  int cuda_device = -1;    ///< its number for the CUDA runtime; -1: the host
  void* stream = nullptr;  ///< the CUstream in whose order the part's work is to be enqueued
};
using PartFunction = void (*)(const void* closure, const Box& threads, const InstanceView* views,
                              const PartPlace& place);

/// One kernel, compiled for everything that it was compiled for.
struct KernelCode {
  RunFunction run = nullptr;  ///< on the CPU: of Form::blocks, threads of whole blocks; null for Form::parts
  Form form = Form::threads;
  PartFunction part = nullptr;       ///< Form::parts only
  std::size_t closure_bytes = 0;     ///< to be copied to a device; 0: the closure cannot leave the host
  const CudaKernel* cuda = nullptr;  ///< null: compiled for the CPU only
};

/// The blocks of a launch: block (i, j, k) begins at origin + (i, j, k) * size, so they are the same however the launch is cut.
struct BlockGrid {
  std::array<Index, kMaxDims> origin{0, 0, 0};
  std::array<Index, kMaxDims> size{1, 1, 1};

  /// The blocks along `axis` that hold some of `threads`, which are not empty and not before the origin.
  NUNA_HOST_DEVICE constexpr Interval meeting(std::size_t axis, Interval threads) const {
    return {(threads.begin - origin[axis]) / size[axis], (threads.end - 1 - origin[axis]) / size[axis] + 1};
  }
  /// The first thread of a block along `axis`.
  NUNA_HOST_DEVICE constexpr Index begin(std::size_t axis, Index block) const {
    return origin[axis] + block * size[axis];
  }
};

/// Told at the start of a program that has kernels for CUDA devices, and what it has told.
NUNA_API void note_cuda_kernels() noexcept;
bool has_cuda_kernels() noexcept;

}  // namespace detail
}  // namespace v0
}  // namespace nuna
