#pragma once
// Models of kernels that many programs have.

#include <utility>

#include "access/model_builder.hpp"

namespace nuna::access::test {

inline constexpr std::uint32_t kOut = 0;
inline constexpr std::uint32_t kIn = 1;
inline constexpr std::uint32_t kMore = 2;

/// Five points of a picture of scalar(0) columns and scalar(1) rows.
inline Kernel stencil() {
  const Sum x = global(0);
  const Sum y = global(1);
  const Sum width = scalar(0);
  const Domain inside{Sum(1) <= x, x < width - 1, Sum(1) <= y, y < scalar(1) - 1};
  Kernel kernel;
  kernel.writes(kOut, width * y + x, inside);
  for (const auto& [dx, dy] : {std::pair{0, 0}, {-1, 0}, {1, 0}, {0, -1}, {0, 1}}) {
    kernel.reads(kIn, width * (y + dy) + x + dx, inside);
  }
  return kernel;
}

/// out = in * more, of scalar(0) rows and columns, in tiles of 16 by 16.
inline Kernel tiled_product() {
  const Sum n = scalar(0);
  const Sum k = Sum(16) * extra(0);
  const Domain loop{Sum(0) <= extra(0), k < n};
  Kernel kernel;
  kernel.writes(kOut, n * global(1) + global(0));
  kernel.with_extra(1);
  kernel.reads(kIn, n * global(1) + k + thread(0), loop);
  kernel.reads(kMore, n * (k + thread(1)) + global(0), loop);
  return kernel;
}

/// Bodies are four fields of 4 bytes; each thread reads all scalar(0) of them and writes one.
inline Kernel n_body() {
  Kernel kernel;
  for (const int field : {0, 1, 2, 3}) {
    kernel.with_extra(0).writes(kOut, Sum(4) * global(0) + field);
    kernel.with_extra(1).reads(kIn, Sum(4) * extra(0) + field, {Sum(0) <= extra(0), extra(0) < scalar(0)});
  }
  return kernel;
}

}  // namespace nuna::access::test
