#include "stencil/reference.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <utility>

namespace stencil {
namespace {

// A field with a border of 4 zeros on its four faces along x and z.
class Bordered {
 public:
  Bordered(std::int64_t nx, std::int64_t ny, std::int64_t nz)
      : ny_(ny), row_(nz + 8), plane_(ny * row_), values_(std::size_t((nx + 8) * plane_), 0.0f) {}

  std::ptrdiff_t plane() const { return plane_; }
  /// The first element of the row (x, y) of the model.
  float* row_at(std::int64_t x, std::int64_t y) { return values_.data() + (x + 4) * plane_ + y * row_ + 4; }
  /// The same for any y from -4 to ny + 3, mirrored about the first and the last row.
  const float* mirrored_row_at(std::int64_t x, std::int64_t y) {
    if (y < 0) y = -y;
    if (y > ny_ - 1) y = 2 * (ny_ - 1) - y;
    return row_at(x, y);
  }

 private:
  std::int64_t ny_;
  std::ptrdiff_t row_;
  std::ptrdiff_t plane_;
  std::vector<float> values_;
};

// The rows 1 to 4 away from a row along y, on one side.
struct Rows {
  const float* d1;
  const float* d2;
  const float* d3;
  const float* d4;
};

Rows rows_beside(Bordered& field, std::int64_t x, std::int64_t y, std::int64_t side) {
  return {field.mirrored_row_at(x, y + side), field.mirrored_row_at(x, y + 2 * side),
          field.mirrored_row_at(x, y + 3 * side), field.mirrored_row_at(x, y + 4 * side)};
}

// One row of the model: `p` now, with the rows beside it, `q` before and after, `c` (velocity * step /
// spacing)^2.
void advance_row(const float* p, const Rows& l, const Rows& r, float* __restrict q, const float* c,
                 const float* sz, float sxy, std::ptrdiff_t X, std::int64_t nz) {
  constexpr float c0 = 3.0f * (-205.0f / 72.0f), c1 = 8.0f / 5.0f, c2 = -1.0f / 5.0f, c3 = 8.0f / 315.0f,
                  c4 = -1.0f / 560.0f;
  for (std::int64_t z = 0; z < nz; ++z) {
    const float* o = p + z;
    const float r1 = o[-X] + o[X] + (l.d1[z] + r.d1[z]) + (o[-1] + o[1]);
    const float r2 = o[-2 * X] + o[2 * X] + (l.d2[z] + r.d2[z]) + (o[-2] + o[2]);
    const float r3 = o[-3 * X] + o[3 * X] + (l.d3[z] + r.d3[z]) + (o[-3] + o[3]);
    const float r4 = o[-4 * X] + o[4 * X] + (l.d4[z] + r.d4[z]) + (o[-4] + o[4]);
    const float laplacian = c0 * o[0] + c1 * r1 + c2 * r2 + c3 * r3 + c4 * r4;
    const float s = sxy * sz[z];
    const float after = 2.0f * o[0] - s * q[z] + c[z] * laplacian;
    q[z] = std::fabs(after) < 1e-30f ? 0.0f : s * after;  // as in the kernel: no denormal numbers
  }
}

void advance(const Experiment& e, Bordered& now, Bordered& next) {
  const float* c = e.courant2.data();
  for (std::int64_t x = 0; x < e.nx; ++x) {
    for (std::int64_t y = 0; y < e.ny; ++y, c += e.nz) {
      advance_row(now.row_at(x, y), rows_beside(now, x, y, -1), rows_beside(now, x, y, 1), next.row_at(x, y),
                  c, e.sponge_z.data(), e.sponge_x[std::size_t(x)] * e.sponge_y[std::size_t(y)], now.plane(),
                  e.nz);
    }
  }
}

std::vector<float> without_border(const Experiment& e, Bordered& field) {
  std::vector<float> dense;
  dense.reserve(std::size_t(e.points()));
  for (std::int64_t x = 0; x < e.nx; ++x) {
    for (std::int64_t y = 0; y < e.ny; ++y)
      dense.insert(dense.end(), field.row_at(x, y), field.row_at(x, y) + e.nz);
  }
  return dense;
}

// Compares bits: equal NaNs are equal, 0 and -0 are not.
std::string compare(const char* what, const std::vector<float>& ours, const std::vector<float>& theirs) {
  if (ours.size() != theirs.size()) return std::string("the sizes of ") + what + " differ";
  std::size_t first = 0;
  std::size_t count = 0;
  for (std::size_t i = ours.size(); i-- > 0;) {
    if (std::bit_cast<std::uint32_t>(ours[i]) == std::bit_cast<std::uint32_t>(theirs[i])) continue;
    first = i;
    ++count;
  }
  if (count == 0) return {};
  char text[200];
  std::snprintf(text, sizeof text,
                "%zu of %zu values of %s differ from the serial reference, first at %zu: %.9g, not %.9g",
                count, ours.size(), what, first, double(ours[first]), double(theirs[first]));
  return text;
}

}  // namespace

Fields run_reference(const Experiment& e, const std::function<void(std::int64_t)>& progress) {
  Bordered now(e.nx, e.ny, e.nz);
  Bordered other(e.nx, e.ny, e.nz);
  Fields fields;
  fields.traces.resize(std::size_t(e.nx * e.steps));
  for (std::int64_t step = 0; step < e.steps; ++step) {
    advance(e, now, other);
    for (std::int64_t y = e.source_y_begin; y < e.source_y_end; ++y) {
      other.row_at(e.source_x, y)[e.source_z] +=
          e.signal[std::size_t(step)] * e.courant2[std::size_t((e.source_x * e.ny + y) * e.nz + e.source_z)];
    }
    for (std::int64_t x = 0; x < e.nx; ++x) {
      fields.traces[std::size_t(x * e.steps + step)] = other.row_at(x, e.receiver_y)[e.receiver_z];
    }
    std::swap(now, other);
    if (progress) progress(step + 1);
  }
  fields.now = without_border(e, now);
  fields.previous = without_border(e, other);
  return fields;
}

std::string first_difference(const Fields& ours, const Fields& reference) {
  for (const auto& [what, field] : {std::pair{"the wavefield", &Fields::now},
                                    std::pair{"the wavefield a step earlier", &Fields::previous},
                                    std::pair{"the traces", &Fields::traces}}) {
    if (std::string text = compare(what, ours.*field, reference.*field); !text.empty()) return text;
  }
  return {};
}

}  // namespace stencil
