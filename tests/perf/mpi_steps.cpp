// Small and large steps on two ranks of one device and one thread: 3 points of 1,024, 5 points of 4096^2, and launches of
// nothing, against limits and against the same loops over MPI by hand (half.hpp).
//
// The messages of a step are those that Nuna's own counter saw. At the seam each rank has one neighbour.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "nuna/nuna.hpp"
#include "perf/array.hpp"
#include "perf/half.hpp"
#include "perf/measure.hpp"
#include "perf/ranks.hpp"

namespace {

namespace perf = nuna::perf;
using nuna::Box;
using nuna::Context;
using nuna::Index;
using nuna::Interval;
using nuna::Thread;
using nuna::View;

// The cases: what a point becomes, as a kernel and in a plain loop.

template <class T>
T start(Index i) {
  return static_cast<T>(i * 7919 % 1009) / 1009;
}

struct ThreePoints {
  using Element = double;
  static constexpr int kDims = 1;
  static constexpr Index kSize = 1024;
  static constexpr Index kPlane = 1;
  static constexpr int kSteps = 1000;  // of one sample

  static nuna::Extents shape() { return {kSize}; }
  static Box inside() { return Box{{1, kSize - 1}}; }
  static nuna::Extents block() { return nuna::block(64); }

  NUNA_KERNEL void operator()(Thread t, View<const double, 1> in, View<double, 1> out) const {
    const Index i = t.global(0);
    out(i) = 0.25 * (in(i - 1) + in(i + 1)) + 0.5 * in(i);
  }
  template <class Progress>
  static void loop(const double* in, double* out, Index, Interval cells, const Progress&) {
    for (Index i = cells.begin; i < cells.end; ++i) out[i] = 0.25 * (in[i - 1] + in[i + 1]) + 0.5 * in[i];
  }
};

struct FivePoints {
  using Element = float;
  static constexpr int kDims = 2;
  static constexpr Index kSize = 4096;
  static constexpr Index kPlane = kSize;
  static constexpr int kSteps = 10;

  static nuna::Extents shape() { return {kSize, kSize}; }
  static Box inside() { return Box{{1, kSize - 1}, {1, kSize - 1}}; }
  static nuna::Extents block() { return nuna::block(16, 16); }

  NUNA_KERNEL void operator()(Thread t, View<const float, 2> in, View<float, 2> out) const {
    const auto [y, x] = t.global<2>();
    out(y, x) = 0.25F * ((in(y - 1, x) + in(y + 1, x)) + (in(y, x - 1) + in(y, x + 1)));
  }
  template <class Progress>
  static void loop(const float* in, float* out, Index row, Interval rows, const Progress& progress) {
    constexpr Index kPiece = 128;  // rows, between two looks at the exchange
    for (Index y = rows.begin; y < rows.end; ++y) {
      const float* const p = in + y * row;
      float* const q = out + y * row;
      NUNA_INDEPENDENT_ITERATIONS
      for (Index x = 1; x < row - 1; ++x) {
        q[x] = 0.25F * ((p[x - row] + p[x + row]) + (p[x - 1] + p[x + 1]));
      }
      if (y % kPiece == 0) progress();
    }
  }
};

template <class T>
struct Start {
  NUNA_KERNEL void operator()(Thread t, View<T, 1> a, View<T, 1> b) const {
    a(t.global(0)) = b(t.global(0)) = start<T>(t.global(0));
  }
  NUNA_KERNEL void operator()(Thread t, View<T, 2> a, View<T, 2> b) const {
    const auto [y, x] = t.global<2>();
    a(y, x) = b(y, x) = start<T>(y * a.extent(1) + x);
  }
};

template <class Case>
class OnNuna {
 public:
  using Element = typename Case::Element;

  explicit OnNuna(Context& context)
      : context_(context), now_(context, Case::shape()), next_(context, Case::shape()) {
    context.launch("start", Case::shape(), Case::block(), Start<Element>{}, nuna::write(now_),
                   nuna::write(next_));
  }
  double us() {
    return 1e6 / Case::kSteps * perf::seconds_of([&] {
             for (int step = 0; step < Case::kSteps; ++step) advance();
             context_.wait();
           });
  }
  bool equals(Interval planes, const Element* field) {
    Box box{Case::shape()};
    box[0] = planes;
    const auto view = now_.host_local(box);
    return std::equal(view.begin(), view.end(), field);
  }

 private:
  void advance() {
    context_.launch("step", nuna::Domain(Case::inside()).within(Case::shape()), Case::block(), Case{},
                    nuna::read(now_, nuna::halo(1)), nuna::write(next_));
    swap(now_, next_);
  }
  Context& context_;
  nuna::Buffer<Element, Case::kDims> now_;
  nuna::Buffer<Element, Case::kDims> next_;
};

template <class Case>
class ByHand {
 public:
  using Element = typename Case::Element;

  explicit ByHand(int rank) : half_(rank, Case::kSize, 1), now_(first(half_), 0), next_(first(half_), 1) {}
  double us() {
    return 1e6 / Case::kSteps * perf::seconds_of([&] {
             for (int step = 0; step < Case::kSteps; ++step) advance();
           });
  }
  void choose_way() {
    half_.choose(perf::Ranks::slowest([this] { return us(); }));
  }
  Interval own() const { return {half_.first() + half_.own().begin, half_.first() + half_.own().end}; }
  const Element* field() const { return now_.get() + half_.own().begin * Case::kPlane; }

 private:
  static std::vector<Element> first(const perf::Half& half) {
    std::vector<Element> values;
    for (Index i = 0; i < half.planes() * Case::kPlane; ++i) {
      values.push_back(start<Element>(half.first() * Case::kPlane + i));
    }
    return values;
  }
  void advance() {
    half_.step(next_.get(), plane_, [&](Index begin, Index end, const auto& progress) {
      Case::loop(now_.get(), next_.get(), plane_, {begin, end}, progress);
    });
    swap(now_, next_);
  }
  perf::Half half_;
  Index plane_ = Case::kPlane;
  perf::Array<Element> now_;
  perf::Array<Element> next_;
};

struct Empty {
  void operator()(Thread) const {}
};

double empty_us(Context& context) {
  constexpr int kLaunches = 10'000;
  return 1e6 / kLaunches * perf::seconds_of([&] {
           for (int i = 0; i < kLaunches; ++i) context.launch("empty", {2}, nuna::block(1), Empty{});
           context.wait();
         });
}

double messages_sent(const Context& context) {
  const std::string stats = context.stats();
  const std::string key = R"("send":{"count":)";
  const std::size_t at = stats.rfind(key);
  if (at == std::string::npos) perf::Ranks::fail("no count of messages in " + stats);
  return std::strtod(stats.c_str() + at + key.size(), nullptr);
}

template <class Case>
void prepare(OnNuna<Case>& ours, ByHand<Case>& peer) {
  ours.us();
  peer.us();
  if (!ours.equals(peer.own(), peer.field())) perf::Ranks::fail("the steps compute something else by hand");
  peer.choose_way();
}

void measure(const perf::Report& report, Context& context, int rank) {
  using perf::Better;
  using perf::Ranks;
  OnNuna<ThreePoints> three(context);
  ByHand<ThreePoints> three_by_hand(rank);
  prepare(three, three_by_hand);
  const perf::Sample step = Ranks::slowest([&] { return three.us(); });
  report.row({"1-D halo step, 1,024 cells, 2 ranks / 30 us", "us", Better::less, 1.0}, step,
             [] { return 30; });
  report.row({"1-D halo step, 1,024 cells, 2 ranks / hand-written MPI", "us", Better::less, perf::kNoAim},
             step, Ranks::slowest([&] { return three_by_hand.us(); }));

  const double before = messages_sent(context);
  three.us();
  const double sent = Ranks::sum(messages_sent(context) - before);
  report.counted({"messages a step and neighbour, 1-D halo / 1", "msg.", Better::less, 1.0},
                 sent / (2 * ThreePoints::kSteps), 1);

  OnNuna<FivePoints> five(context);
  ByHand<FivePoints> five_by_hand(rank);
  prepare(five, five_by_hand);
  report.row({"4096^2 5-point step, 2 ranks / hand-written MPI", "us", Better::less, 1 / 1.1},
             Ranks::slowest([&] { return five.us(); }), Ranks::slowest([&] { return five_by_hand.us(); }));
  report.row({"empty launch, 2 ranks, 10,000 and a wait / 3 us", "us", Better::less, 1.0},
             Ranks::slowest([&] { return empty_us(context); }), [] { return 3; });
}

}  // namespace

int main(int argc, char** argv) {
  nuna::Options options;
  options.devices = 1;
  options.threads_per_device = 1;
  Context context = Context::world(0, nullptr, options);
  const perf::Ranks ranks(2);
  const perf::Report report(argc, argv);
  measure(report, context, ranks.rank());
  return 0;
}
