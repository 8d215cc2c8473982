#pragma once
// NewBytes: what bytes of a buffer are to be, for updates (nuna/update.hpp).

#include <cstddef>

#include "nuna/box.hpp"
#include "nuna/config.hpp"

namespace nuna {
inline namespace v0 {
namespace detail {

/// Those of host memory, or one value.
struct NewBytes {
  Interval bytes;              ///< dense, of the buffer; not empty
  const void* from = nullptr;  ///< where the first of them lies on the host; null: each is `value`
  std::byte value{};
};

}  // namespace detail
}  // namespace v0
}  // namespace nuna
