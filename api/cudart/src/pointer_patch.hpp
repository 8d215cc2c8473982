#pragma once
// A pointer in a kernel's arguments that launches over several devices replace by that of the device.

#include <cstddef>
#include <cstdint>

#include "nuna/box.hpp"

namespace nuna::cudart {

struct PointerPatch {
  std::uint32_t argument = 0;  ///< of the kernel, and the byte in it
  std::uint32_t offset = 0;
  std::size_t view = 0;  ///< of the buffer that it points into
  Index in_buffer = 0;
  std::uint32_t pointer = 0;  ///< in the model
  Interval allocation;        ///< around it, in the buffer
};

}  // namespace nuna::cudart
