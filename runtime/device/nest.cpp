#include "device/nest.hpp"

#include <cstddef>

namespace nuna::device {
namespace {

// Adds an axis outside all others; it melts into its neighbour where it continues it in both regions.
void append(Nest& nest, Index count, Index to, Index from) {
  if (nest.axes == 0 && to == nest.run && from == nest.run) {
    nest.run *= count;
    return;
  }
  if (nest.axes > 0) {
    Nest::Axis& last = nest.axis[static_cast<std::size_t>(nest.axes - 1)];
    if (last.to * last.count == to && last.from * last.count == from) {
      last.count *= count;
      return;
    }
  }
  nest.axis[static_cast<std::size_t>(nest.axes++)] = {count, to, from};
}

// The axes of one region from the inside out, of which factors can be taken.
class Factors {
 public:
  explicit Factors(const Region& r)
      : counts_{r.run_bytes, r.counts[2], r.counts[1], r.counts[0]},
        strides_{1, r.stride_bytes[2], r.stride_bytes[1], r.stride_bytes[0]} {
    settle();
  }
  bool done() const { return at_ == counts_.size(); }
  Index count() const { return counts_[at_]; }
  Index stride() const { return strides_[at_]; }
  void take(Index factor) {
    counts_[at_] /= factor;
    strides_[at_] *= factor;
    settle();
  }

 private:
  void settle() {
    while (at_ < counts_.size() && counts_[at_] == 1) ++at_;
  }
  std::array<Index, 4> counts_;
  std::array<Index, 4> strides_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<Nest> common_nest(const Region& to, const Region& from) {
  Nest nest;
  Factors a(to);
  Factors b(from);
  while (!a.done() && !b.done()) {
    const Index factor = std::min(a.count(), b.count());
    if (std::max(a.count(), b.count()) % factor != 0) return std::nullopt;
    append(nest, factor, a.stride(), b.stride());
    a.take(factor);
    b.take(factor);
  }
  return nest;
}

}  // namespace nuna::device
