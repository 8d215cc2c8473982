#include "stencil/simulation.hpp"

#include <algorithm>
#include <chrono>
#include <string>

#include "nuna/nuna.hpp"
#include "stencil/wave_kernel.hpp"

namespace stencil {
namespace {

using nuna::Box;
using nuna::Buffer;
using nuna::Domain;
using nuna::Index;
using nuna::Interval;

// Rows along y that are computed plane after plane while they are in the cache.
constexpr Index kTile = 16;

class Simulation {
 public:
  Simulation(nuna::Context& context, const Experiment& experiment)
      : context_(context),
        e_(experiment),
        padded_{e_.nx + 2 * kRadius, e_.ny, e_.nz + 2 * kRadius},
        parts_(require_parts(context, experiment)),
        block_(nuna::block(1, std::min(kTile, e_.ny), padded_[2])),
        now_(context, padded_),
        next_(context, padded_),
        courant2_(context, padded_),
        sponge_x_(context, {padded_[0]}),
        sponge_y_(context, {padded_[1]}),
        sponge_z_(context, {padded_[2]}),
        traces_(context, {e_.nx, e_.steps}) {
    context_.fill(now_, 0.0f);
    context_.fill(next_, 0.0f);
    context_.fill(traces_, 0.0f);
    set_courant2();
    set_sponge(sponge_x_, e_.sponge_x, kRadius);
    set_sponge(sponge_y_, e_.sponge_y, 0);
    set_sponge(sponge_z_, e_.sponge_z, kRadius);
  }

  void step(Index step) {
    context_.launch("wave", inside(model()), block_, Wave{},
                    nuna::read(now_, nuna::halo(kRadius, kRadius, kRadius)), nuna::read_write(next_),
                    nuna::read(courant2_), nuna::read(sponge_x_, nuna::whole()),
                    nuna::read(sponge_y_, nuna::whole()), nuna::read(sponge_z_, nuna::whole()));
    context_.launch("source", inside(source()), block_, Source{}, nuna::read_write(next_),
                    nuna::read(courant2_), e_.signal[std::size_t(step)]);
    context_.launch("record", inside(receivers()), block_, Record{}, nuna::read(next_),
                    nuna::read_write(traces_, kRowOfPlane), step);
    swap(now_, next_);
  }

  std::optional<Fields> collect() {
    Fields fields{collect(now_), collect(next_), collect(traces_, Box(traces_.extents()))};
    if (context_.rank() != 0) return std::nullopt;
    return fields;
  }

 private:
  // Plane x of the padded arrays records into row x - kRadius.
  static constexpr nuna::AxisRule kTraceRule{0, 1, -kRadius, 0, 0};
  inline static const nuna::AccessMap kRowOfPlane{{kTraceRule, nuna::AxisRule{}, nuna::AxisRule{}}};

  static int require_parts(const nuna::Context& context, const Experiment& e) {
    const int parts = context.devices() * context.ranks();
    if (parts <= e.nx) return parts;
    throw nuna::Error(nuna::ErrorCode::too_few_blocks,
                      "the model has " + std::to_string(e.nx) + " planes along x, too few for " +
                          std::to_string(parts) + " parts (" + std::to_string(context.ranks()) +
                          " ranks of " + std::to_string(context.devices()) +
                          " devices); use fewer ranks or devices, or a larger model");
  }

  Box model() const { return {{kRadius, kRadius + e_.nx}, {0, e_.ny}, {kRadius, kRadius + e_.nz}}; }
  Box source() const {
    return {
        single(kRadius + e_.source_x), {e_.source_y_begin, e_.source_y_end}, single(kRadius + e_.source_z)};
  }
  Box receivers() const {
    return {{kRadius, kRadius + e_.nx}, single(e_.receiver_y), single(kRadius + e_.receiver_z)};
  }
  static Interval single(Index i) { return {i, i + 1}; }

  // Every launch is cut as the padded arrays are, so that the small ones run where the wave's data is.
  Domain inside(const Box& box) const { return Domain(box).within(padded_).parts(parts_); }

  void set_courant2() {
    const auto view = courant2_.host(nuna::Access::write);
    std::fill(view.begin(), view.end(), 0.0f);
    const float* from = e_.courant2.data();
    for (Index x = 0; x < e_.nx; ++x) {
      for (Index y = 0; y < e_.ny; ++y, from += e_.nz)
        std::copy(from, from + e_.nz, &view(x + kRadius, y, kRadius));
    }
  }

  template <class T>
  static void set_sponge(Buffer<T, 1>& buffer, const std::vector<float>& factors, Index padding) {
    const auto view = buffer.host(nuna::Access::write);
    std::fill(view.begin(), view.end(), T{1});
    std::copy(factors.begin(), factors.end(), view.begin() + padding);
  }

  std::vector<float> collect(Buffer<float, 3>& field) {
    const auto view = field.host_at(0, model());
    std::vector<float> dense;
    if (view.box().empty()) return dense;
    dense.reserve(std::size_t(e_.points()));
    for (Index x = 0; x < e_.nx; ++x) {
      for (Index y = 0; y < e_.ny; ++y) {
        const float* row = &view(x + kRadius, y, kRadius);
        dense.insert(dense.end(), row, row + e_.nz);
      }
    }
    return dense;
  }

  static std::vector<float> collect(Buffer<float, 2>& buffer, const Box& box) {
    const auto view = buffer.host_at(0, box);
    return {view.begin(), view.end()};
  }

  nuna::Context& context_;
  const Experiment& e_;
  nuna::Extents padded_;
  int parts_;
  nuna::Extents block_;
  Buffer<float, 3> now_;
  Buffer<float, 3> next_;
  Buffer<float, 3> courant2_;
  Buffer<double, 1> sponge_x_;
  Buffer<double, 1> sponge_y_;
  Buffer<float, 1> sponge_z_;
  Buffer<float, 2> traces_;
};

}  // namespace

SimulationRun simulate(nuna::Context& context, const Experiment& experiment,
                       const std::function<void(std::int64_t)>& progress) {
  Simulation simulation(context, experiment);
  context.wait();
  const auto start = std::chrono::steady_clock::now();
  for (Index step = 0; step < experiment.steps; ++step) {
    simulation.step(step);
    if (progress && context.rank() == 0) progress(step + 1);
  }
  context.wait();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  SimulationRun run;
  run.seconds = context.max(elapsed.count());
  run.fields = simulation.collect();
  return run;
}

}  // namespace stencil
