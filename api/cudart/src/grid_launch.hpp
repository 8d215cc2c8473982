#pragma once
// Launches of Nuna's that run the blocks of a CUDA grid, over buffers that are rows of bytes.

#include <memory>
#include <optional>
#include <vector>

#include "nuna/context.hpp"
#include "nuna/event.hpp"
#include "tiles.hpp"

namespace nuna::cudart {

struct GridLaunch {
  const char* name = "";
  Grid grid{1, 1, 1};
  std::optional<int>
      axis;  ///< that is cut, a part for each device; 0 is x. None: the first device runs all of it
  /// Called with boxes of blocks (blocks_of), by several threads at once, also for one part.
  detail::RunFunction run = nullptr;
  const detail::CudaKernel* cuda = nullptr;  ///< where devices are GPUs
  std::shared_ptr<const void> closure;
  std::vector<detail::LaunchArgument> arguments;
  bool brief = false;  ///< the calling thread may run it (detail::LaunchRequest)
};

/// Throws Error.
nuna::Event start(Context& context, const GridLaunch& launch);

/// Nuna has the slowest axis first.
GridBox blocks_of(const Box& box);

Box box_of(Interval bytes);

/// For AccessMap: Nuna's cached plans know a map by a number only. An address would be that of another map some time, once plans are
/// forgotten.
const void* new_identity();

}  // namespace nuna::cudart
