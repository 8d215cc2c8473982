// The kernels against the serial reference, run over plain arrays as a device would run them: in pieces, in
// any order.

#include "stencil/wave_kernel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "stencil/experiment.hpp"
#include "stencil/reference.hpp"

namespace stencil {
namespace {

using nuna::Box;
using nuna::Extents;
using nuna::Index;

template <class T, int N>
nuna::View<const T, N> view_of(const std::vector<T>& values, const Extents& e) {
  nuna::detail::InstanceView v;
  v.origin = const_cast<char*>(reinterpret_cast<const char*>(values.data()));
  v.extents = e;
  v.stride_bytes = N == 1   ? std::array<Index, 3>{4, 0, 0}
                   : N == 2 ? std::array<Index, 3>{e[1] * 4, 4, 0}
                            : std::array<Index, 3>{e[1] * e[2] * 4, e[2] * 4, 4};
  return nuna::View<const T, N>(v);
}
template <class T, int N>
nuna::View<T, N> writable(std::vector<T>& values, const Extents& e) {
  nuna::detail::InstanceView v;
  v.origin = reinterpret_cast<char*>(values.data());
  v.extents = e;
  v.stride_bytes =
      N == 2 ? std::array<Index, 3>{e[1] * 4, 4, 0} : std::array<Index, 3>{e[1] * e[2] * 4, e[2] * 4, 4};
  return nuna::View<T, N>(v);
}

template <class T>
std::vector<T> padded(const std::vector<float>& values, Index padding) {
  std::vector<T> all(std::size_t(padding), T{1});
  all.insert(all.end(), values.begin(), values.end());
  all.insert(all.end(), std::size_t(padding), T{1});
  return all;
}

// The time loop with every launch cut into random boxes.
class Pieces {
 public:
  Pieces(const Experiment& e, unsigned seed)
      : e_(e),
        shape_{e.nx + 2 * kRadius, e.ny, e.nz + 2 * kRadius},
        random_(seed),
        now_(std::size_t(shape_.count())),
        next_(now_.size()),
        courant2_(now_.size()),
        traces_(std::size_t(e.nx * e.steps)),
        sponge_x_(padded<double>(e.sponge_x, kRadius)),
        sponge_y_(padded<double>(e.sponge_y, 0)),
        sponge_z_(padded<float>(e.sponge_z, kRadius)) {
    std::size_t from = 0;
    for (Index x = 0; x < e.nx; ++x) {
      for (Index y = 0; y < e.ny; ++y) {
        for (Index z = 0; z < e.nz; ++z) courant2_[at(x, y, z)] = e.courant2[from++];
      }
    }
  }

  Fields run() {
    for (Index step = 0; step < e_.steps; ++step) advance(step);
    return {dense(now_), dense(next_), traces_};
  }

 private:
  std::size_t at(Index x, Index y, Index z) const {
    return std::size_t(((x + kRadius) * shape_[1] + y) * shape_[2] + z + kRadius);
  }

  void advance(Index step) {
    const nuna::detail::BlockGrid block{{0, 0, 0}, {1, 3, shape_[2]}};
    const auto field = writable<float, 3>(next_, shape_);
    const auto speed = view_of<float, 3>(courant2_, shape_);
    std::vector<Box> boxes = cut({{kRadius, kRadius + e_.nx}, {0, e_.ny}, {kRadius, kRadius + e_.nz}});
    std::shuffle(boxes.begin(), boxes.end(), random_);
    for (const Box& box : boxes) {
      nuna::detail::run_threads(box, block, Wave{}, view_of<float, 3>(now_, shape_), field, speed,
                                view_of<double, 1>(sponge_x_, {shape_[0]}),
                                view_of<double, 1>(sponge_y_, {e_.ny}),
                                view_of<float, 1>(sponge_z_, {shape_[2]}));
    }
    nuna::detail::run_threads({{e_.source_x + kRadius, e_.source_x + kRadius + 1},
                               {e_.source_y_begin, e_.source_y_end},
                               {e_.source_z + kRadius, e_.source_z + kRadius + 1}},
                              block, Source{}, field, speed, e_.signal[std::size_t(step)]);
    nuna::detail::run_threads({{kRadius, kRadius + e_.nx},
                               {e_.receiver_y, e_.receiver_y + 1},
                               {e_.receiver_z + kRadius, e_.receiver_z + kRadius + 1}},
                              block, Record{}, view_of<float, 3>(next_, shape_),
                              writable<float, 2>(traces_, {e_.nx, e_.steps}), step);
    std::swap(now_, next_);
  }

  std::vector<Box> cut(const Box& box) {
    std::vector<Box> boxes{box};
    for (int axis = 0; axis < 3; ++axis) {
      std::vector<Box> finer;
      for (const Box& b : boxes) {
        Box left = b;
        Box right = b;
        left[axis].end = right[axis].begin =
            std::uniform_int_distribution<Index>(b[axis].begin, b[axis].end)(random_);
        finer.push_back(left);
        finer.push_back(right);
      }
      boxes = finer;
    }
    return boxes;
  }

  std::vector<float> dense(const std::vector<float>& field) const {
    std::vector<float> values;
    for (Index x = 0; x < e_.nx; ++x) {
      for (Index y = 0; y < e_.ny; ++y) {
        for (Index z = 0; z < e_.nz; ++z) values.push_back(field[at(x, y, z)]);
      }
    }
    return values;
  }

  const Experiment& e_;
  Extents shape_;
  std::mt19937 random_;
  std::vector<float> now_;
  std::vector<float> next_;
  std::vector<float> courant2_;
  std::vector<float> traces_;
  std::vector<double> sponge_x_;
  std::vector<double> sponge_y_;
  std::vector<float> sponge_z_;
};

TEST(WaveKernel, CutIntoRandomBoxesGivesTheBitsOfTheSerialReference) {
  unsigned seed = 1;
  for (const Shape& shape :
       {Shape{37, 29, 0}, Shape{9, 41, 0}, Shape{21, 18, 17}, Shape{12, 12, 5}, Shape{1, 1, 0}}) {
    const Experiment e = make_experiment(layered_velocity(shape, 10, 5 + shape.x % 5), {.steps = 60});
    EXPECT_EQ(first_difference(Pieces(e, seed++).run(), run_reference(e)), "") << shape.x << " x " << shape.z;
  }
}

TEST(FirstDifference, SeesOneBitInEachField) {
  const Fields reference{{1.0f, 2.0f}, {3.0f}, {0.0f}};
  EXPECT_EQ(first_difference(reference, reference), "");
  for (const auto field : {&Fields::now, &Fields::previous}) {
    Fields other = reference;
    (other.*field)[0] = std::nextafter((other.*field)[0], 9.0f);
    EXPECT_NE(first_difference(other, reference), "");
  }
  Fields other = reference;
  other.traces[0] = -0.0f;
  EXPECT_NE(first_difference(other, reference), "");
  other.traces.clear();
  EXPECT_NE(first_difference(other, reference), "");
}

}  // namespace
}  // namespace stencil
