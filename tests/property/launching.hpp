#pragma once
// A LaunchSpec over buffers, through the library's entry point for launches.

#include <memory>
#include <vector>

#include "property/any_buffer.hpp"

namespace nuna::property {

/// Launches `run` with `closure`; buffers by the numbers of the spec.
inline Event start(Context& context, const std::vector<std::unique_ptr<AnyBuffer>>& buffers,
                   const LaunchSpec& spec, const detail::KernelCode& code,
                   std::shared_ptr<const void> closure) {
  std::vector<detail::LaunchArgument> arguments;
  for (const UseSpec& u : spec.uses) {
    const auto b = static_cast<std::size_t>(u.buffer);
    arguments.push_back({&buffers[b]->handle(), &u.map.map, u.reads, u.writes, u.may, u.device});
  }
  const detail::LaunchName name("random");
  detail::LaunchRequest request;
  request.name = &name;
  request.domain = &spec.domain;
  request.device = spec.device;
  request.block = &spec.block;
  request.code = code;
  request.closure = std::move(closure);
  request.arguments = arguments.data();
  request.argument_count = arguments.size();
  return detail::launch(context.state(), request);
}

}  // namespace nuna::property
