#pragma once
// Pictures: colour maps and PNG files.

#include <cstdint>
#include <string>
#include <vector>

#include "common/output_files.hpp"

namespace apps {

struct Colour {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;
  friend bool operator==(const Colour&, const Colour&) = default;
};

/// An RGB picture, rows from the top.
class Image {
 public:
  Image(int width, int height)
      : width_(width), height_(height), pixels_(std::size_t(width) * std::size_t(height)) {}

  int width() const { return width_; }
  int height() const { return height_; }
  Colour& at(int column, int row) {
    return pixels_[std::size_t(row) * std::size_t(width_) + std::size_t(column)];
  }
  const Colour& at(int column, int row) const {
    return pixels_[std::size_t(row) * std::size_t(width_) + std::size_t(column)];
  }

 private:
  int width_;
  int height_;
  std::vector<Colour> pixels_;
};

/// A diverging map of [-1, 1] over a grey ground of the given brightness (0 to 1): blue for negative, red for
/// positive, the ground for zero. Values outside are clipped, NaN is green.
Colour diverging(float value, float ground);

/// The size that `share` (0 to 1) of the absolute values do not exceed: the gain of a picture whose few
/// strongest points would hide all others. 1 when all values are zero or there are none.
float percentile_of_size(const std::vector<float>& values, double share);

/// Writes `image` as a PNG. Failures as in FileWriter; pictures of no pixels are refused with
/// invalid_argument.
void write_png(FileWriter& out, const Image& image);

}  // namespace apps
