#include "stencil/velocity_model.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <span>

#include "nuna/error.hpp"

namespace stencil {
namespace {

constexpr std::int64_t kLongestAxis = 1'000'000;
constexpr std::int64_t kLeastAlongY = 5;  // a stencil of radius 4 is mirrored once at most
constexpr std::int64_t kMostPoints = std::int64_t{1} << 40;
constexpr double kLeastSpacing_m = 1e-6;
constexpr double kMostSpacing_m = 1e6;

[[noreturn]] void refuse(const std::string& text) {
  throw nuna::Error(nuna::ErrorCode::invalid_argument, text);
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

VelocityModel empty_model(const Shape& shape, double spacing_m, std::int64_t extrude) {
  if (!(spacing_m >= kLeastSpacing_m && spacing_m <= kMostSpacing_m)) {
    refuse("the spacing must be from " + number(kLeastSpacing_m) + " to " + number(kMostSpacing_m) +
           " m, not " + number(spacing_m));
  }
  VelocityModel model;
  model.nx = shape.x;
  model.ny = shape.two_dimensional() ? extrude : shape.y;
  model.nz = shape.z;
  model.extruded = shape.two_dimensional();
  model.spacing_m = spacing_m;
  if (model.ny < kLeastAlongY) {
    refuse("the stencil needs at least " + std::to_string(kLeastAlongY) + " points along y, not " +
           std::to_string(model.ny) + "; use --extrude " + std::to_string(kLeastAlongY) + " or more");
  }
  if (model.nx * model.nz > kMostPoints / model.ny)
    refuse("the model has more than 2^40 points; use a smaller shape");
  return model;
}

std::vector<float> read_floats(const std::string& path, std::int64_t count, const Shape& shape) {
  std::error_code failure;
  if (std::filesystem::is_directory(path, failure)) failure = std::make_error_code(std::errc::is_a_directory);
  const auto bytes = failure ? 0 : std::filesystem::file_size(path, failure);
  if (failure) {
    throw nuna::Error(nuna::ErrorCode::input_output,
                      "cannot read the velocity model '" + path + "': " + failure.message());
  }
  const auto wanted = static_cast<std::uintmax_t>(count) * sizeof(float);
  if (bytes != wanted) {
    refuse("the velocity model '" + path + "' has " + std::to_string(bytes) + " bytes, but " +
           std::to_string(shape.x) + " x " + std::to_string(shape.z) +
           (shape.two_dimensional() ? "" : " x " + std::to_string(shape.y)) + " values of 4 bytes need " +
           std::to_string(wanted) + "; mend --shape");
  }
  std::vector<float> values(static_cast<std::size_t>(count));
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (!file || std::fread(values.data(), sizeof(float), values.size(), file.get()) != values.size()) {
    throw nuna::Error(nuna::ErrorCode::input_output,
                      "cannot read the velocity model '" + path + "': " + std::strerror(errno));
  }
  static_assert(std::endian::native == std::endian::little, "the files are little-endian");
  return values;
}

void require_plausible(float velocity_m_s, const std::string& place) {
  if (std::isnan(velocity_m_s)) refuse("the velocity " + place + " is not a number; mend the model");
  if (velocity_m_s >= kSlowest_m_s && velocity_m_s <= kFastest_m_s) return;
  refuse("the velocity " + place + " is " + number(double(velocity_m_s)) + " m/s, outside " +
         number(double(kSlowest_m_s)) + " to " + number(double(kFastest_m_s)) +
         " m/s; check the unit and the model");
}

// Repeats every trace `times` times along y.
std::vector<float> extrude_traces(std::span<const float> plane, std::int64_t traces, std::int64_t samples,
                                  std::int64_t times) {
  std::vector<float> volume;
  volume.reserve(plane.size() * std::size_t(times));
  for (std::int64_t t = 0; t < traces; ++t) {
    const auto trace = plane.subspan(std::size_t(t * samples), std::size_t(samples));
    for (std::int64_t r = 0; r < times; ++r) volume.insert(volume.end(), trace.begin(), trace.end());
  }
  return volume;
}

}  // namespace

Shape parse_shape(const std::string& text) {
  std::vector<std::int64_t> sizes;
  const char* at = text.data();
  const char* const end = at + text.size();
  bool well = true;
  while (well) {
    std::int64_t size = 0;
    const auto [next, failure] = std::from_chars(at, end, size);
    well = failure == std::errc{} && size >= 1 && size <= kLongestAxis && (next == end || *next == 'x');
    sizes.push_back(size);
    if (next == end) break;
    at = next + 1;
  }
  if (!well || sizes.size() < 2 || sizes.size() > 3) {
    refuse("'" + text +
           "' is no shape; write NXxNZ or NXxNZxNY, for example 1601x401, with sizes from 1 to " +
           std::to_string(kLongestAxis));
  }
  return {sizes[0], sizes[1], sizes.size() == 3 ? sizes[2] : 0};
}

float VelocityModel::slowest_m_s() const {
  return *std::min_element(velocity_m_s.begin(), velocity_m_s.end());
}
float VelocityModel::fastest_m_s() const {
  return *std::max_element(velocity_m_s.begin(), velocity_m_s.end());
}

VelocityModel load_velocity(const std::string& path, const Shape& shape, VelocityUnit unit, double spacing_m,
                            std::int64_t extrude) {
  VelocityModel model = empty_model(shape, spacing_m, extrude);
  const std::int64_t in_file = shape.two_dimensional() ? model.nx * model.nz : model.nx * model.ny * model.nz;
  std::vector<float> values = read_floats(path, in_file, shape);
  const double factor = unit == VelocityUnit::kilometres_per_second ? 1000.0 : 1.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(double(values[i]) * factor);
    if (values[i] >= kSlowest_m_s && values[i] <= kFastest_m_s) continue;
    const auto trace = std::to_string(i / std::size_t(model.nz));
    require_plausible(values[i], "of trace " + trace + ", sample " +
                                     std::to_string(i % std::size_t(model.nz)) + " of '" + path + "'");
  }
  model.velocity_m_s =
      model.extruded ? extrude_traces(values, model.nx, model.nz, model.ny) : std::move(values);
  return model;
}

VelocityModel layered_velocity(const Shape& shape, double spacing_m, std::int64_t extrude) {
  constexpr float kLayers[] = {1500.0f, 2000.0f, 2500.0f, 3000.0f, 3500.0f};
  constexpr auto kCount = std::int64_t(std::size(kLayers));
  VelocityModel model = empty_model(shape, spacing_m, extrude);
  std::vector<float> trace;
  trace.reserve(static_cast<std::size_t>(model.nz));
  for (std::int64_t z = 0; z < model.nz; ++z) trace.push_back(kLayers[z * kCount / model.nz]);
  model.velocity_m_s = extrude_traces(trace, 1, model.nz, model.nx * model.ny);
  return model;
}

VelocityModel constant_velocity(const Shape& shape, double spacing_m, std::int64_t extrude,
                                double velocity_m_s) {
  VelocityModel model = empty_model(shape, spacing_m, extrude);
  require_plausible(static_cast<float>(velocity_m_s), "given by --constant");
  model.velocity_m_s.assign(std::size_t(model.nx * model.ny * model.nz), static_cast<float>(velocity_m_s));
  return model;
}

}  // namespace stencil
