#include "nuna-bandwidth/predict.hpp"

#include <algorithm>

#include "base/units.hpp"
#include "route/course.hpp"

namespace nuna_bandwidth {
namespace {

using namespace nuna::topology;
using nuna::Index;
using nuna::base::kHostPlace;
using nuna::route::Course;
using nuna::route::Ends;
using nuna::route::Stage;

constexpr Index kLeastBlockBytes = Index{64} << 10;

MemoryId host_of(const MemoryId& memory) { return {memory.rank, kHostPlace}; }
bool is_host(const MemoryId& memory) { return memory.place == kHostPlace; }

// A copy by a device, between two memories of a rank.
std::optional<Stage> device_copy(const Machine& machine, const MemoryId& from, const MemoryId& to) {
  const std::optional<Speed> speed = find_speed(machine, from, to);
  if (!speed) return std::nullopt;
  std::int64_t fixed_ps = 0;
  for (const Device* device : {find_device(machine, from), find_device(machine, to)}) {
    if (device != nullptr) fixed_ps = std::max(fixed_ps, device->copy_latency_ps);
  }
  return Stage{speed->latency_ps + fixed_ps, speed->bytes_per_second};
}

// A memcpy by a core of the rank.
Stage core_copy(const Machine& machine, const MemoryId& memory) {
  return {0, find_memory(machine, host_of(memory))->copy_bytes_per_second};
}

std::optional<Stage> message(const Machine& machine, const Ends& ends) {
  const std::optional<Speed> speed = find_speed(machine, host_of(ends.from), host_of(ends.to));
  if (!speed) return std::nullopt;
  return Stage{speed->latency_ps, speed->bytes_per_second};
}

// Collects stages; one that is not possible makes the whole impossible.
class Stages {
 public:
  void add(const std::optional<Stage>& stage) {
    possible_ = possible_ && stage.has_value();
    if (stage) all_.push_back(*stage);
  }
  std::optional<std::vector<Stage>> take() const {
    if (!possible_) return std::nullopt;
    return all_;
  }

 private:
  bool possible_ = true;
  std::vector<Stage> all_;
};

// From one memory through host memory to the other. Unpinned memory costs a copy by a core beside each copy by a device.
std::optional<std::vector<Stage>> through_host(const Machine& machine, const Ends& ends, bool pinned) {
  const bool one_rank = ends.from.rank == ends.to.rank;
  Stages stages;
  if (!is_host(ends.from)) {
    stages.add(device_copy(machine, ends.from, host_of(ends.from)));
    if (!pinned) stages.add(core_copy(machine, ends.from));
  } else if (one_rank) {
    stages.add(core_copy(machine, ends.from));  // into the pinned buffer
  }
  if (!one_rank) stages.add(message(machine, ends));
  if (!is_host(ends.to)) {
    if (!pinned) stages.add(core_copy(machine, ends.to));
    stages.add(device_copy(machine, host_of(ends.to), ends.to));
  } else if (one_rank) {
    stages.add(core_copy(machine, ends.to));
  }
  return stages.take();
}

std::optional<std::vector<Stage>> stages_of(const Machine& machine, const Ends& ends, Scheme scheme) {
  Stages one;
  switch (scheme) {
    case Scheme::naive:
      return through_host(machine, ends, false);
    case Scheme::pinned:
    case Scheme::double_buffered:
      return through_host(machine, ends, true);
    case Scheme::direct:
      one.add(device_copy(machine, ends.from, ends.to));
      return one.take();
    case Scheme::mpi:
      one.add(message(machine, ends));
      return one.take();
    case Scheme::nuna:
    case Scheme::api:
      break;
  }
  return std::nullopt;
}

double seconds(std::int64_t time_ps) {
  return static_cast<double>(time_ps) / static_cast<double>(nuna::base::kPicosecondsPerSecond);
}

// What is measured is one run of bytes, which both ends of a message know.
nuna::route::Way nuna_way(const Machine& machine, const Ends& ends, Index bytes) {
  return nuna::route::ways(machine, {}, ends, {bytes, true, true}).front();
}

bool wanted_has(const std::vector<Scheme>& wanted, Scheme scheme) {
  return std::find(wanted.begin(), wanted.end(), scheme) != wanted.end();
}

Row row_for(const Machine& machine, const Experiment& experiment, Index bytes,
            const std::vector<Scheme>& wanted) {
  Row row{experiment, bytes, {}, {}, {}, ""};
  for (const Scheme scheme : schemes_of(machine, experiment)) {
    if (!wanted_has(wanted, scheme)) continue;
    if (const auto time_s = predicted_seconds(machine, experiment.ends, scheme, bytes))
      row.cells.push_back({scheme, {*time_s, *time_s, *time_s}, 0});
  }
  const nuna::route::Way way = nuna_way(machine, experiment.ends, bytes);
  if (way.possible) row.choice = std::string(nuna::route::to_string(way.kind)) + ": " + way.reason;
  row.best = best_of(row.cells);
  const Cell* ours = row.find(Scheme::nuna);
  if (row.best && ours == nullptr) row.best.reset();
  if (row.best) {
    const double ratio = row.find(*row.best)->seconds.median / ours->seconds.median;
    row.ratio = {ratio, ratio, ratio};
  }
  return row;
}

}  // namespace

Index block_bytes(Index bytes, Index most_bytes) {
  return std::clamp((bytes + 3) / 4, std::min(kLeastBlockBytes, most_bytes), most_bytes);
}

std::optional<double> predicted_seconds(const Machine& machine, const Ends& ends, Scheme scheme,
                                        Index bytes) {
  if (scheme == Scheme::nuna) {
    const nuna::route::Way way = nuna_way(machine, ends, bytes);
    if (!way.possible) return std::nullopt;
    return seconds(way.predicted_ps);
  }
  const auto stages = stages_of(machine, ends, scheme);
  if (!stages || stages->empty()) return std::nullopt;
  Course course;
  course.stages = *stages;
  course.chunked = scheme == Scheme::double_buffered;
  nuna::route::Limits limits;
  limits.least_chunk_bytes = limits.most_chunk_bytes = block_bytes(bytes, kMostBlockBytes);
  limits.most_blocks = 2;
  return seconds(nuna::route::estimate(course, bytes, limits).time_ps);
}

std::vector<Row> predicted(const Machine& machine, const std::vector<Index>& sizes,
                           const std::vector<Scheme>& wanted, bool all) {
  std::vector<Row> rows;
  for (const Experiment& experiment : experiments_of(machine, all)) {
    if (experiment.two_way) continue;
    for (const Index bytes : sizes) rows.push_back(row_for(machine, experiment, bytes, wanted));
  }
  return rows;
}

}  // namespace nuna_bandwidth
