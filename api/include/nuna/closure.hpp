#pragma once
// Closures: a kernel with the arguments of one launch, and the functions that run it. Made by Context::launch; not for users.
//
// The Closure itself is what travels to a device, byte by byte: no std::tuple, which not every library makes trivially
// copyable. The host keeps it in a HeldClosure, together with what a device is told separately.

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "nuna/access_map.hpp"
#include "nuna/block.hpp"
#include "nuna/box.hpp"
#include "nuna/buffer.hpp"
#include "nuna/config.hpp"
#include "nuna/cuda_entry.hpp"
#include "nuna/instance.hpp"
#include "nuna/kernel.hpp"
#include "nuna/view.hpp"

namespace nuna {
inline namespace v0 {
namespace detail {

/// Which compiler read this header. It stands in the names of what depends on it, so that a program in which nvcc and another
/// compiler saw the same launch has both.
#if defined(__CUDACC__)
struct WithCuda;
using ThisCompiler = WithCuda;
#else
struct HostOnly;
using ThisCompiler = HostOnly;
#endif

/// Stands in a closure for a buffer argument; becomes a View at the call.
template <class T, int N>
struct ViewSlot {};

template <class A>
struct Bound {  // a plain value
  static_assert(std::is_trivially_copyable<A>::value, "plain kernel arguments are trivially copyable");
  using Stored = A;
  using Given = A;
  static constexpr bool kIsBuffer = false;
  static const A& store(const A& value) { return value; }  // NOLINT(bugprone-return-const-ref-from-parameter)
};
template <class T, int N>
struct Bound<Argument<T, N>> {
  using Stored = ViewSlot<T, N>;
  using Given = View<T, N>;
  static constexpr bool kIsBuffer = true;
  static Stored store(const Argument<T, N>&) { return {}; }
};

/// Values one after the other; trivially copyable if they are.
template <class... Values>
struct Pack {};
template <class First, class... Rest>
struct Pack<First, Rest...> {
  First first;
  Pack<Rest...> rest;
};

inline Pack<> pack() { return {}; }
template <class First, class... Rest>
Pack<First, Rest...> pack(const First& first, const Rest&... rest) {
  return {first, pack(rest...)};
}

template <std::size_t I, class... Values>
NUNA_HOST_DEVICE constexpr const auto& get(const Pack<Values...>& values) {
  if constexpr (I == 0) {
    return values.first;
  } else {
    return get<I - 1>(values.rest);
  }
}

/// What the kernel is given for an argument.
template <class A>
NUNA_HOST_DEVICE const A& given(const A& value, const InstanceView*) {
  return value;  // NOLINT(bugprone-return-const-ref-from-parameter)
}
template <class T, int N>
NUNA_HOST_DEVICE View<T, N> given(const ViewSlot<T, N>&, const InstanceView* view) {
  return View<T, N>(*view);
}

template <class Kernel, class... Given>
constexpr bool takes_block() {
  using Block = typename BlockOf<Kernel>::type;
  using Shared = typename SharedOf<Kernel>::type;
  if constexpr (std::is_void<Shared>::value) {
    return std::is_invocable<const Kernel&, const Block&, const Given&...>::value;
  } else {
    return std::is_invocable<const Kernel&, const Block&, Shared&, const Given&...>::value;
  }
}

/// What a callable is called with, from the type of its parameters.
template <class Kernel, class... Given>
constexpr Form form_of() {
  if constexpr (!std::is_void<typename BlockOf<Kernel>::type>::value) {
    static_assert(
        takes_block<Kernel, Given...>(),
        "a kernel by block has operator()(const Block&, Shared& if it has a Shared, then one nuna::View "
        "for each buffer argument and the plain arguments in the order of the launch) const");
    return Form::blocks;
  } else if constexpr (std::is_invocable<const Kernel&, Thread, const Given&...>::value) {
    return Form::threads;
  } else {
    static_assert(
        std::is_invocable<const Kernel&, const Part&, const Given&...>::value,
        "a kernel has operator()(nuna::Thread, or const nuna::Part&, then one nuna::View for each buffer "
        "argument and the plain arguments in the order of the launch) const; const Block& if it says "
        "using Block = nuna::Block<...>");
    return Form::parts;
  }
}

/// What a kernel says of its blocks, or null.
template <class Kernel>
const Extents* block_extents_of() {
  using Block = typename BlockOf<Kernel>::type;
  if constexpr (std::is_void<Block>::value) {
    return nullptr;
  } else {
    static constexpr Extents kExtents = Block::extents();
    return &kExtents;
  }
}

inline BlockGrid grid_of(const Box& frame, const Extents& block) {
  BlockGrid grid;
  for (std::size_t a = 0; a < kMaxDims; ++a) {
    grid.origin[a] = frame.axis[a].begin;
    grid.size[a] = block.size[a] > 0 ? block.size[a] : 1;  // what is wrong is refused before it is used
  }
  return grid;
}

/// A kernel with the arguments of one launch, as given to Context::launch.
template <class Compiler, class Kernel, class... Arguments>
struct Closure {
  using Function = Kernel;
  static constexpr std::size_t kViews = (std::size_t{0} + ... + (Bound<Arguments>::kIsBuffer ? 1 : 0));
  static constexpr Form kForm = form_of<Kernel, typename Bound<Arguments>::Given...>();
  static constexpr std::index_sequence_for<Arguments...> kIndices{};

  Kernel kernel;
  Pack<typename Bound<Arguments>::Stored...> arguments;

  /// What the kernel is given for argument I, on the host and on devices.
  template <std::size_t I>
  NUNA_HOST_DEVICE constexpr decltype(auto) argument(const InstanceView* views) const {
    constexpr std::size_t kBefore = views_before(I);
    return given(get<I>(arguments), views + kBefore);
  }

 private:
  static constexpr std::size_t views_before(std::size_t argument) {
    constexpr bool kIsBuffer[] = {Bound<Arguments>::kIsBuffer..., false};
    std::size_t count = 0;
    for (std::size_t a = 0; a < argument; ++a) count += kIsBuffer[a] ? 1 : 0;
    return count;
  }
};

/// A closure on the host, beginning with what is copied to devices.
template <class Closure>
struct HeldClosure {
  Closure closure;
  BlockGrid blocks;

  static void run(const void* held, const Box& threads, const InstanceView* views) {
    static_cast<const HeldClosure*>(held)->run_with(threads, views, Closure::kIndices);
  }
  static void run_part(const void* held, const Box& threads, const InstanceView* views,
                       const PartPlace& place) {
    const auto& self = *static_cast<const HeldClosure*>(held);
    Part part{threads, threads, place};
    for (std::size_t a = 0; a < part.blocks.axis.size(); ++a) {
      part.blocks.axis[a] = self.blocks.meeting(a, threads.axis[a]);
    }
    self.call_with(part, views, Closure::kIndices);
  }

 private:
  template <std::size_t... I>
  void run_with(const Box& threads, const InstanceView* views, std::index_sequence<I...>) const {
    if constexpr (Closure::kForm == Form::blocks) {
      run_blocks(threads, blocks, closure.kernel, closure.template argument<I>(views)...);
    } else {
      run_threads(threads, blocks, closure.kernel, closure.template argument<I>(views)...);
    }
  }
  template <std::size_t... I>
  void call_with(const Part& part, const InstanceView* views, std::index_sequence<I...>) const {
    closure.kernel(part, closure.template argument<I>(views)...);
  }
};

/// The compiled forms of a closure.
template <class Closure>
KernelCode code_of() {
  KernelCode code;
  code.form = Closure::kForm;
  if constexpr (Closure::kForm == Form::parts) {
    code.part = &HeldClosure<Closure>::run_part;
  } else {
    code.run = &HeldClosure<Closure>::run;
#if defined(__CUDACC__)
    if constexpr (std::is_trivially_copyable<Closure>::value) {
      code.closure_bytes = sizeof(Closure);
      code.cuda = &CudaEntry<Closure>::kKernel;
    }
#endif
  }
  return code;
}

}  // namespace detail
}  // namespace v0
}  // namespace nuna
