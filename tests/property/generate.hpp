#pragma once
// Random shapes, access maps and launches, and a naive reading of them: what each single thread touches, written here
// once more, from the manual pages alone, so that the runtime's arithmetic is compared with something.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "access/cut.hpp"
#include "base/boxes.hpp"
#include "nuna/access_map.hpp"
#include "nuna/domain.hpp"
#include "nuna/error.hpp"
#include "property/random.hpp"

namespace nuna::property {

/// Appends the boxes of elements that one thread touches (a box of one thread).
using PerThread = std::function<void(const Box& thread, std::vector<Box>& elements)>;

struct MapSpec {
  AccessMap map = one_to_one();
  PerThread per_thread;
  std::string text;
  bool exclusive = true;  ///< no two threads touch the same element
};

struct UseSpec {
  int buffer = 0;
  MapSpec map;
  bool reads = false;
  bool writes = false;
  bool may = false;
  std::optional<int> device;  ///< whose memory it is used in
};

struct LaunchSpec {
  Domain domain = {1};
  std::optional<int> device;  ///< the one that runs all of it
  Extents block{1};
  std::vector<UseSpec> uses;
  std::string text;
};

/// Who runs a launch, of all that there are.
access::Team team_of(const LaunchSpec& launch, access::Team all);
/// 1 to 3 axes, at most about `most_elements` elements, of an element size out of `sizes`.
base::Shape random_shape(Random& random, Index most_elements, const std::vector<Index>& sizes);
Box random_box(Random& random, const Extents& extents);
/// Which launches are drawn.
struct Taste {
  bool exclusive = false;  ///< only launches whose threads may run at once on several cores
  int arguments = 3;       ///< at most
  bool small = false;      ///< only over a few elements, so that what was written before stays
};
/// A launch over `buffers`; usually legal, but not always.
LaunchSpec random_launch(Random& random, const std::vector<base::Shape>& buffers, access::Team team,
                         const Taste& taste);

/// Whether the launch must be refused, and how.
std::optional<ErrorCode> refusal(const LaunchSpec& launch, const std::vector<base::Shape>& buffers,
                                 access::Team team);

/// The number of an element in row-major order.
inline Index element_number(const Extents& e, Index i, Index j, Index k) {
  return (i * e.size[1] + j) * e.size[2] + k;
}
/// Calls f(element number) for each element of the box.
template <class F>
void for_each_element(const Extents& extents, const Box& box, F f) {
  for (Index i = box[0].begin; i < box[0].end; ++i) {
    for (Index j = box[1].begin; j < box[1].end; ++j) {
      for (Index k = box[2].begin; k < box[2].end; ++k) f(element_number(extents, i, j, k));
    }
  }
}
/// Calls f(dense byte) for each byte of the box, in packing order.
template <class F>
void for_each_byte(const base::Shape& shape, const base::ByteBox& box, F f) {
  for (Index i = box[0].begin; i < box[0].end; ++i) {
    for (Index j = box[1].begin; j < box[1].end; ++j) {
      for (Index k = box[2].begin; k < box[2].end; ++k) {
        for (Index b = box[3].begin; b < box[3].end; ++b) {
          f(element_number(shape.extents, i, j, k) * shape.element_bytes + b);
        }
      }
    }
  }
}

/// Calls f(thread) for each thread of the box, as a box of one, in row-major order.
template <class F>
void for_each_thread(const Box& threads, F f) {
  Box one = threads;
  for (Index i = threads[0].begin; i < threads[0].end; ++i) {
    for (Index j = threads[1].begin; j < threads[1].end; ++j) {
      for (Index k = threads[2].begin; k < threads[2].end; ++k) {
        one[0] = {i, i + 1};
        one[1] = {j, j + 1};
        one[2] = {k, k + 1};
        f(one);
      }
    }
  }
}

}  // namespace nuna::property
