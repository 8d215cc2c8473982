#include "grid_launch.hpp"

namespace nuna::cudart {

nuna::Event start(Context& context, const GridLaunch& launch) {
  const detail::LaunchName name(launch.name);
  const Domain whole({Index{launch.grid[2]}, Index{launch.grid[1]}, Index{launch.grid[0]}});
  const Domain domain = launch.axis ? whole.along(2 - *launch.axis) : whole;
  const Extents block({1, 1, 1});
  detail::LaunchRequest request;
  request.name = &name;
  request.domain = &domain;
  if (!launch.axis) request.device = 0;
  request.block = &block;
  request.kernel_block = &block;
  request.code.run = launch.run;
  request.code.cuda = launch.cuda;
  request.code.form = detail::Form::blocks;
  request.closure = launch.closure;
  request.arguments = launch.arguments.data();
  request.argument_count = launch.arguments.size();
  request.brief = launch.brief;
  return detail::launch(context.state(), request);
}

GridBox blocks_of(const Box& box) {
  GridBox blocks;
  for (std::size_t a = 0; a < 3; ++a) {
    blocks.first[a] = static_cast<std::uint32_t>(box[2 - static_cast<int>(a)].begin);
    blocks.last[a] = static_cast<std::uint32_t>(box[2 - static_cast<int>(a)].end);
  }
  return blocks;
}

Box box_of(Interval bytes) {
  Box box;
  box.dims = 1;
  box[0] = bytes;
  return box;
}

const void* new_identity() {
  static std::uintptr_t last = 0;
  return reinterpret_cast<const void*>(++last);  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace nuna::cudart
