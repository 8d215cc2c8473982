// The stencil of apps/stencil on 320^3 points over two ranks of one device and one thread, against the same loop over MPI by
// hand (half.hpp), and what of the exchange Nuna does not hide behind the computation.
//
// That is measured as the time that goes away when the same launches on the same buffers declare no halo: no message is
// sent then, no rank waits for the other, and each computes as before. So waiting for the other rank counts as unhidden.

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "nuna/nuna.hpp"
#include "perf/half.hpp"
#include "perf/measure.hpp"
#include "perf/ranks.hpp"
#include "perf/wave.hpp"

namespace {

namespace perf = nuna::perf;

class ByHand {
 public:
  ByHand(const perf::Model& model, int rank)
      : half_(rank, perf::kPlanes, perf::kPadding), loop_(model, half_.first(), half_.planes()) {}

  double milliseconds_of_step() {
    return 1e3 / perf::kSteps * perf::seconds_of([&] {
             for (int step = 0; step < perf::kSteps; ++step) advance();
           });
  }
  void advance() {
    half_.step(loop_.next(), perf::kPlane, [&](nuna::Index begin, nuna::Index end, auto progress) {
      for (nuna::Index tile = 0; tile < loop_.rows(); tile += perf::kTile, progress()) {
        loop_.compute_tile(tile, begin, end);
      }
    });
    loop_.turn();
  }
  void choose_way() {
    half_.choose(perf::Ranks::slowest([this] { return milliseconds_of_step(); }));
  }
  nuna::Interval own() const { return {half_.first() + half_.own().begin, half_.first() + half_.own().end}; }
  const float* field() const { return loop_.now() + half_.own().begin * perf::kPlane; }

 private:
  perf::Half half_;
  perf::WaveLoop loop_;
};

double unhidden_percent(perf::WaveOnNuna& wave) {
  constexpr int kRuns = 3;
  constexpr double kLeast = 0.01;  // a share is never 0 or less, except by noise
  const auto time = [&](bool exchanging) {
    return perf::Ranks::slowest([&] { return wave.milliseconds_of_step(exchanging); })();
  };
  std::vector<double> with;
  std::vector<double> without;
  for (int run = 0; run < kRuns; ++run) {
    with.push_back(time(true));
    without.push_back(time(false));
  }
  const double whole = perf::quartiles(with).median;
  return std::max(kLeast, 100 * (whole - perf::quartiles(without).median) / whole);
}

}  // namespace

int main(int argc, char** argv) {
  nuna::Options options;
  options.devices = 1;
  options.threads_per_device = 1;
  nuna::Context context = nuna::Context::world(0, nullptr, options);
  const perf::Ranks ranks(2);
  const perf::Report report(argc, argv);
  // Nobody's arrays lie in the first pages of a process: see stencil.cpp.
  const std::vector<char> first_pages(std::size_t{3} << 29, 1);
  perf::keep(first_pages.data());
  const perf::Model model;
  perf::WaveOnNuna ours(std::move(context), model);
  ByHand peer(model, ranks.rank());
  for (int step = 0; step < 4; ++step) {
    ours.advance();
    peer.advance();
  }
  if (!ours.equals(peer.own(), peer.field()))
    perf::Ranks::fail("the stencil computes something else by hand");
  peer.choose_way();
  report.row({"stencil 320^3, 2 ranks x 1 device / hand-written MPI", "ms", perf::Better::less, 0.97},
             perf::Ranks::slowest([&] { return ours.milliseconds_of_step(); }),
             perf::Ranks::slowest([&] { return peer.milliseconds_of_step(); }));
  constexpr double kMostPercent = 3;
  report.row(
      {"unhidden transfers, stencil 320^3, 2 ranks / 3 %", "%", perf::Better::less, 1.0},
      [&] { return unhidden_percent(ours); }, [] { return kMostPercent; });
  return 0;
}
