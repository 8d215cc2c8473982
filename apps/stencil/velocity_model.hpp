#pragma once
// Velocity models: what the wave runs through, from a file or made here.

#include <cstdint>
#include <string>
#include <vector>

namespace stencil {

enum class VelocityUnit { metres_per_second, kilometres_per_second };

/// Points of a model along each axis. `y == 0` stands for a two-dimensional model, which has no y.
struct Shape {
  std::int64_t x = 0;
  std::int64_t z = 0;
  std::int64_t y = 0;
  bool two_dimensional() const { return y == 0; }
  friend bool operator==(const Shape&, const Shape&) = default;
};

/// Reads "1601x401" (two-dimensional) or "320x320x320" (x, z, y). Throws nuna::Error(invalid_argument).
Shape parse_shape(const std::string& text);

/// Slower than any rock and faster than any is a mistake, most often of the unit.
inline constexpr float kSlowest_m_s = 300.0f;
inline constexpr float kFastest_m_s = 12'000.0f;

/// Velocity at every point of a regular grid, the same spacing along all axes. x is the slowest axis in
/// memory (one trace after the other, as in the files), z (depth) the fastest.
struct VelocityModel {
  std::int64_t nx = 0;
  std::int64_t ny = 0;
  std::int64_t nz = 0;
  bool extruded = false;  ///< made from two dimensions: alike along y, to be continued beyond both y faces
  double spacing_m = 0.0;
  std::vector<float> velocity_m_s;  ///< nx * ny * nz

  float at(std::int64_t x, std::int64_t y, std::int64_t z) const {
    return velocity_m_s[std::size_t((x * ny + y) * nz + z)];
  }
  float slowest_m_s() const;
  float fastest_m_s() const;
};

/// Reads little-endian float32, z fastest, then y (if the shape has one), then x. A two-dimensional model is
/// repeated `extrude` times along y. Throws nuna::Error: input_output when the file cannot be read;
/// invalid_argument when its size is not that of the shape, or a value is not a number or, in m/s, outside
/// kSlowest_m_s to kFastest_m_s, with its place.
VelocityModel load_velocity(const std::string& path, const Shape& shape, VelocityUnit unit, double spacing_m,
                            std::int64_t extrude);

/// Five flat layers, 1,500 m/s at the top to 3,500 m/s at the bottom.
VelocityModel layered_velocity(const Shape& shape, double spacing_m, std::int64_t extrude);

/// One velocity everywhere. Throws as load_velocity for a value out of range.
VelocityModel constant_velocity(const Shape& shape, double spacing_m, std::int64_t extrude,
                                double velocity_m_s);

}  // namespace stencil
