#include "model_arguments.hpp"

#include <cstddef>
#include <cstring>

namespace nuna::cudart {
namespace {

std::int64_t scalar_of(const void* const* arguments, const access::Parameter& parameter) {
  std::uint64_t value = 0;
  std::memcpy(&value, static_cast<const std::byte*>(arguments[parameter.argument]) + parameter.offset,
              parameter.bytes);
  const unsigned spare = 64 - 8 * parameter.bytes;
  if (!parameter.is_signed) return static_cast<std::int64_t>(value);
  return static_cast<std::int64_t>(value << spare) >> spare;
}

}  // namespace

std::uintptr_t pointer_of(const void* const* arguments, const access::Pointer& pointer) {
  std::uintptr_t value = 0;
  std::memcpy(&value, static_cast<const std::byte*>(arguments[pointer.argument]) + pointer.offset,
              sizeof value);
  return value;
}

access::LaunchNumbers numbers_of(const Grid& grid, const Grid& block, const void* const* arguments,
                                 const access::KernelModel& model) {
  access::LaunchNumbers numbers;
  for (std::size_t a = 0; a < 3; ++a) {
    numbers.block[a] = block[a];
    numbers.grid[a] = grid[a];
  }
  for (std::size_t p = access::kScalars; p < model.parameters.size(); ++p) {
    const bool is_derived = model.parameters[p].kind == access::Parameter::Kind::derived;
    numbers.scalars.push_back(is_derived ? 0 : scalar_of(arguments, model.parameters[p]));
  }
  return numbers;
}

}  // namespace nuna::cudart
