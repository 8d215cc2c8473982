#include "stencil/output.hpp"

#include <algorithm>
#include <cstdint>
#include <span>

#include "common/output_files.hpp"

namespace stencil {
namespace {

// Pictures are about this large, whatever the model is.
constexpr std::int64_t kPixels = 2000;
// Some of the largest values are clipped, or the source would leave the rest of the picture empty.
constexpr double kClipAbove = 0.99;

void write_floats(apps::FileWriter& out, const std::vector<float>& values) {
  out.write(values.data(), values.size() * sizeof(float));
}

// Pixels for `points` points: whole enlargements of small axes, large ones thinned out.
std::int64_t enlargement(std::int64_t points) { return std::max<std::int64_t>(1, kPixels / 2 / points); }
std::int64_t thinning(std::int64_t points) {
  return std::max<std::int64_t>(1, (points + kPixels - 1) / kPixels);
}

struct Grid {
  std::int64_t columns;
  std::int64_t rows;
};

struct Scale {
  std::int64_t enlarge = 1;
  std::int64_t thin = 1;
  std::int64_t pixels(std::int64_t points) const { return (points * enlarge + thin - 1) / thin; }
  std::int64_t point(std::int64_t pixel) const { return pixel * thin / enlarge; }
};

Scale scale_for(std::int64_t points) { return {enlargement(points), thinning(points)}; }

apps::Image paint(const Grid& grid, const Scale& across, const Scale& down, const auto& colour_of) {
  apps::Image image(int(across.pixels(grid.columns)), int(down.pixels(grid.rows)));
  for (int r = 0; r < image.height(); ++r) {
    for (int c = 0; c < image.width(); ++c) image.at(c, r) = colour_of(across.point(c), down.point(r));
  }
  return image;
}

}  // namespace

std::vector<std::string> output_names(const std::string& prefix) {
  return {prefix + "_wavefield.f32", prefix + "_traces.f32", prefix + "_wavefield.png",
          prefix + "_seismogram.png"};
}

void require_output(const std::string& prefix) {
  for (const std::string& name : output_names(prefix)) apps::OutputFiles::require_writable(name);
}

std::vector<std::string> write_output(const std::string& prefix, const VelocityModel& model,
                                      const Experiment& experiment, const Fields& fields) {
  const std::vector<std::string> names = output_names(prefix);
  apps::OutputFiles files;
  files.add(names[0], [&](apps::FileWriter& out) { write_floats(out, fields.now); });
  files.add(names[1], [&](apps::FileWriter& out) { write_floats(out, fields.traces); });
  files.add(names[2], [&](apps::FileWriter& out) { apps::write_png(out, wavefield_image(model, fields)); });
  files.add(names[3],
            [&](apps::FileWriter& out) { apps::write_png(out, seismogram_image(experiment, fields)); });
  files.commit();
  return names;
}

apps::Image wavefield_image(const VelocityModel& model, const Fields& fields) {
  const std::int64_t y = model.ny / 2;
  const auto index = [&](std::int64_t x, std::int64_t z) {
    return std::size_t((x * model.ny + y) * model.nz + z);
  };
  std::vector<float> slice;
  for (std::int64_t x = 0; x < model.nx; ++x) {
    const auto row = fields.now.begin() + std::ptrdiff_t(index(x, 0));
    slice.insert(slice.end(), row, row + model.nz);
  }
  const float gain = 1.0f / apps::percentile_of_size(slice, kClipAbove);
  const float slowest = model.slowest_m_s();
  const float range = std::max(model.fastest_m_s() - slowest, 1.0f);
  const Scale scale =
      scale_for(std::max(model.nx, model.nz));  // the same along both axes: circles stay round
  return paint({model.nx, model.nz}, scale, scale, [&](std::int64_t x, std::int64_t z) {
    const float ground = 0.98f - 0.45f * (model.at(x, y, z) - slowest) / range;
    return apps::diverging(gain * fields.now[index(x, z)], ground);
  });
}

apps::Image seismogram_image(const Experiment& e, const Fields& fields) {
  const float gain = 1.0f / apps::percentile_of_size(fields.traces, kClipAbove);
  return paint({e.nx, e.steps}, scale_for(e.nx), scale_for(e.steps), [&](std::int64_t x, std::int64_t step) {
    return apps::diverging(gain * fields.traces[std::size_t(x * e.steps + step)], 1.0f);
  });
}

}  // namespace stencil
