#include "nuna-bandwidth/measure.hpp"

#include <algorithm>
#include <chrono>
#include <map>

#include "common/processes.hpp"
#include "common/progress.hpp"
#include "context_state.hpp"
#include "nuna-bandwidth/schedule.hpp"

namespace nuna_bandwidth {
namespace {

using nuna::Index;
using Clock = std::chrono::steady_clock;

// Above this a single transfer warms up what can be warm.
constexpr Index kLargeBytes = Index{8} << 20;
constexpr int kCopySamples = 5;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// One scheme at one size of one experiment, and nuna beside it.
struct Task {
  std::size_t row = 0;
  Experiment experiment;
  Index bytes = 0;
  Scheme scheme = Scheme::nuna;
  bool beside_nuna = false;
};

std::vector<Scheme> schemes_to_measure(const Rig& rig, const nuna::topology::Machine& machine,
                                       const Experiment& experiment, const std::vector<Scheme>& wanted) {
  std::vector<Scheme> schemes = schemes_of(machine, experiment);
  std::erase_if(schemes, [&](Scheme scheme) {
    if (scheme == Scheme::api && !rig.has_api(experiment)) return true;
    return std::find(wanted.begin(), wanted.end(), scheme) == wanted.end();
  });
  return schemes;
}

std::vector<Task> tasks_of(const Rig& rig, const nuna::topology::Machine& machine, const Options& options,
                           const std::vector<Index>& sizes) {
  std::vector<Task> tasks;
  std::size_t row = 0;
  for (const Experiment& experiment : experiments_of(machine, options.all)) {
    const std::vector<Scheme> schemes = schemes_to_measure(rig, machine, experiment, options.schemes);
    const bool nuna = std::find(schemes.begin(), schemes.end(), Scheme::nuna) != schemes.end();
    if (schemes.empty()) continue;
    for (const Index bytes : sizes) {
      for (const Scheme scheme : schemes) {
        if (scheme == Scheme::nuna && schemes.size() > 1) continue;  // beside the others
        tasks.push_back({row, experiment, bytes, scheme, nuna && scheme != Scheme::nuna});
      }
      ++row;
    }
  }
  return tasks;
}

std::vector<CellPlan> plans_of(const std::vector<Task>& tasks) {
  std::vector<CellPlan> plans;
  plans.reserve(tasks.size());
  for (const Task& task : tasks)
    plans.push_back({task.bytes, task.experiment.two_way ? 2 : 1, task.beside_nuna ? 4 : 2});
  return plans;
}

// Seconds of one task.
struct Samples {
  std::vector<double> scheme;
  std::vector<double> nuna;
};

class Sampling {
 public:
  Sampling(Rig& rig, const Task& task) : rig_(rig), task_(task) {}

  /// The scheme itself comes last, so that the first cycle finds the caches as later ones do.
  void warm_up() {
    const int times = task_.bytes >= kLargeBytes ? 1 : 2;
    for (int i = 0; i < times && task_.beside_nuna; ++i)
      rig_.prove(task_.experiment, Scheme::nuna, task_.bytes);
    for (int i = 0; i < times; ++i) rig_.prove(task_.experiment, task_.scheme, task_.bytes);
  }

  /// Two pairs: scheme, nuna, nuna, scheme. So each comes as often after itself as after the other.
  void cycle() {
    samples_.scheme.push_back(time(task_.scheme));
    if (task_.beside_nuna) {
      samples_.nuna.push_back(time(Scheme::nuna));
      samples_.nuna.push_back(time(Scheme::nuna));
    }
    samples_.scheme.push_back(time(task_.scheme));
  }

  const Samples& samples() const { return samples_; }

 private:
  double time(Scheme scheme) { return rig_.time(task_.experiment, scheme, task_.bytes); }

  Rig& rig_;
  const Task& task_;
  Samples samples_;
};

Cell cell_of(Scheme scheme, const std::vector<double>& seconds) {
  return {scheme, quartiles_of(seconds), static_cast<int>(seconds.size())};
}

// Nuna's time is that beside the best by hand, as the ratio.
void finish(Row& row, const std::map<Scheme, Samples>& all) {
  for (const auto& [scheme, samples] : all) row.cells.push_back(cell_of(scheme, samples.scheme));
  const auto best = best_of(row.cells);
  const auto shown = all.find(best ? *best : row.cells.front().scheme);
  if (shown->second.nuna.empty()) return;
  row.cells.push_back(cell_of(Scheme::nuna, shown->second.nuna));
  if (!best) return;
  row.best = best;
  row.ratio = ratios_of(shown->second.scheme, shown->second.nuna);
}

// All rows of all ranks, in the order in which they were measured, on the first rank.
std::vector<Row> gather(const std::map<std::size_t, Row>& mine, const nuna::topology::Machine& machine) {
  Json own = Json::array();
  for (const auto& [number, row] : mine) own.push_back({{"number", number}, {"row", to_json(row, machine)}});
  std::map<std::size_t, Row> all;
  for (const std::string& text : apps::Processes::gather(own.dump())) {
    for (const Json& entry : Json::parse(text))
      all.emplace(entry.at("number").get<std::size_t>(), row_of(entry.at("row")));
  }
  std::vector<Row> rows;
  rows.reserve(all.size());
  for (const auto& [number, row] : all) rows.push_back(row);
  return rows;
}

std::vector<std::int64_t> measure_copies(Rig& rig, int places, Index bytes) {
  std::vector<std::int64_t> rates;
  rates.reserve(static_cast<std::size_t>(places));
  for (int p = 0; p < places; ++p) {
    std::vector<double> samples;
    samples.reserve(kCopySamples);
    rig.time_within_place({p}, bytes);
    for (int i = 0; i < kCopySamples; ++i) samples.push_back(rig.time_within_place({p}, bytes));
    rates.push_back(static_cast<std::int64_t>(static_cast<double>(bytes) / quartiles_of(samples).median));
  }
  return rates;
}

// Collective between the ranks of the task; how often is said by the one that keeps time.
Samples sample(Rig& rig, const Task& task, const Schedule& schedule, std::size_t cell, double budget_s,
               Clock::time_point begin) {
  Sampling sampling(rig, task);
  sampling.warm_up();
  const double left_s = budget_s - seconds_since(begin);
  const auto cell_begin = Clock::now();
  for (int done = 0;; ++done) {
    const bool more = schedule.another(cell, done, left_s, seconds_since(cell_begin));
    if (rig.agree(task.experiment, more ? 1 : 0) == 0) return sampling.samples();
    sampling.cycle();
  }
}

// The rows of which this rank keeps the time.
std::map<std::size_t, Row> measure_rows(Rig& rig, const std::vector<Task>& tasks, double budget_s,
                                        bool draw) {
  const Schedule schedule(plans_of(tasks));
  apps::Progress progress("measuring", static_cast<std::int64_t>(tasks.size()), draw);
  std::map<std::size_t, Row> rows;
  std::map<Scheme, Samples> samples;  // of the row
  const auto begin = Clock::now();
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const Task& task = tasks[t];
    if (t == 0 || !(task.experiment == tasks[t - 1].experiment)) apps::Processes::wait_for_all();
    if (!rig.takes_part(task.experiment)) continue;
    samples[task.scheme] = sample(rig, task, schedule, t, budget_s, begin);
    progress.update(static_cast<std::int64_t>(t) + 1);
    if (t + 1 < tasks.size() && tasks[t + 1].row == task.row) continue;
    if (rig.keeps_time(task.experiment)) {
      Row row{task.experiment, task.bytes, {}, {}, {}, rig.choice(task.experiment, task.bytes)};
      finish(row, samples);
      rows.emplace(task.row, std::move(row));
    }
    samples.clear();
  }
  apps::Processes::wait_for_all();
  return rows;
}

}  // namespace

Measured measure(nuna::Context& context, const Options& options, const std::vector<Index>& sizes) {
  auto& runtime = context.state().runtime();
  Rig rig(context, sizes.back(), options.block_bytes);
  const bool first = context.rank() == 0;
  Measured measured;
  if (!options.write_machine_file.empty() && first)
    measured.copy_bytes_per_second = measure_copies(rig, runtime.places().count(), sizes.back());
  const std::vector<Task> tasks = tasks_of(rig, runtime.machine(), options, sizes);
  measured.rows = gather(measure_rows(rig, tasks, options.budget_s, first), runtime.machine());
  return measured;
}

}  // namespace nuna_bandwidth
