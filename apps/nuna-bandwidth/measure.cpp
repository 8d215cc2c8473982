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

struct CellToMeasure {
  Experiment experiment;
  Index bytes = 0;
  std::vector<Scheme> peers;  // all but nuna
  bool nuna = false;
};

std::vector<CellToMeasure> cells_of(const Rig& rig, const nuna::topology::Machine& machine,
                                    const Options& options, const std::vector<Index>& sizes) {
  std::vector<CellToMeasure> cells;
  const auto wanted = [&](Scheme scheme) {
    return std::find(options.schemes.begin(), options.schemes.end(), scheme) != options.schemes.end();
  };
  for (const Experiment& experiment : experiments_of(machine, options.all)) {
    CellToMeasure cell{experiment, 0, {}, false};
    for (const Scheme scheme : schemes_of(machine, experiment)) {
      if (!wanted(scheme) || (scheme == Scheme::api && !rig.has_api(experiment))) continue;
      if (scheme == Scheme::nuna) cell.nuna = true;
      if (scheme != Scheme::nuna) cell.peers.push_back(scheme);
    }
    if (cell.peers.empty() && !cell.nuna) continue;
    for (const Index bytes : sizes) {
      cell.bytes = bytes;
      cells.push_back(cell);
    }
  }
  return cells;
}

std::vector<CellPlan> plans_of(const std::vector<CellToMeasure>& cells) {
  std::vector<CellPlan> plans;
  for (const CellToMeasure& cell : cells) {
    const int peers = std::max<int>(1, static_cast<int>(cell.peers.size()));
    plans.push_back({cell.bytes, cell.experiment.two_way ? 2 : 1, cell.nuna ? 2 * peers : peers});
  }
  return plans;
}

// Samples of one cell: of each scheme, and of nuna beside it.
class Samples {
 public:
  Samples(Rig& rig, const CellToMeasure& cell) : rig_(rig), cell_(cell) {}

  void warm_up() {
    std::vector<Scheme> all = cell_.peers;
    if (cell_.nuna) all.push_back(Scheme::nuna);
    const int times = cell_.bytes >= kLargeBytes ? 1 : 2;
    for (const Scheme scheme : all) {
      for (int i = 0; i < times; ++i) rig_.prove(cell_.experiment, scheme, cell_.bytes);
    }
  }

  /// `ours_first`: in every second cycle, so that neither always finds the caches as the other left them.
  void cycle(bool ours_first) {
    for (const Scheme scheme : cell_.peers) {
      if (cell_.nuna && ours_first) ours_[scheme].push_back(time(Scheme::nuna));
      peers_[scheme].push_back(time(scheme));
      if (cell_.nuna && !ours_first) ours_[scheme].push_back(time(Scheme::nuna));
    }
    if (cell_.peers.empty()) ours_[Scheme::nuna].push_back(time(Scheme::nuna));
  }

  Row row() const {
    Row row{cell_.experiment,
            cell_.bytes,
            {},
            {},
            {},
            cell_.nuna ? rig_.choice(cell_.experiment, cell_.bytes) : ""};
    std::vector<double> all_ours;
    for (const auto& [scheme, samples] : ours_)
      all_ours.insert(all_ours.end(), samples.begin(), samples.end());
    for (const auto& [scheme, samples] : peers_)
      row.cells.push_back({scheme, quartiles_of(samples), static_cast<int>(samples.size())});
    if (cell_.nuna)
      row.cells.push_back({Scheme::nuna, quartiles_of(all_ours), static_cast<int>(all_ours.size())});
    const auto best = best_of(row.cells);
    if (best && cell_.nuna) {
      row.best = best;
      row.ratio = ratios_of(peers_.at(*best), ours_.at(*best));
    }
    return row;
  }

 private:
  double time(Scheme scheme) { return rig_.time(cell_.experiment, scheme, cell_.bytes); }

  Rig& rig_;
  const CellToMeasure& cell_;
  std::map<Scheme, std::vector<double>> peers_;
  std::map<Scheme, std::vector<double>> ours_;  // by the peer beside it
};

// All rows of all ranks, in the order in which they were measured, on the first rank.
std::vector<Row> gather(const std::vector<CellToMeasure>& cells, const std::map<std::size_t, Row>& mine,
                        const nuna::topology::Machine& machine) {
  Json own = Json::array();
  for (const auto& [cell, row] : mine) own.push_back({{"cell", cell}, {"row", to_json(row, machine)}});
  std::map<std::size_t, Row> all;
  for (const std::string& text : apps::Processes::gather(own.dump())) {
    for (const Json& entry : Json::parse(text))
      all.emplace(entry.at("cell").get<std::size_t>(), row_of(entry.at("row")));
  }
  std::vector<Row> rows;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    if (const auto found = all.find(c); found != all.end()) rows.push_back(found->second);
  }
  return rows;
}

std::vector<std::int64_t> measure_copies(Rig& rig, int places, Index bytes) {
  std::vector<std::int64_t> rates;
  for (int p = 0; p < places; ++p) {
    std::vector<double> samples;
    rig.time_within_place({p}, bytes);
    for (int i = 0; i < kCopySamples; ++i) samples.push_back(rig.time_within_place({p}, bytes));
    rates.push_back(static_cast<std::int64_t>(static_cast<double>(bytes) / quartiles_of(samples).median));
  }
  return rates;
}

}  // namespace

Measured measure(nuna::Context& context, const Options& options, const std::vector<Index>& sizes) {
  const auto& machine = context.state().runtime().machine();
  Rig rig(context, sizes.back(), options.block_bytes);
  const std::vector<CellToMeasure> cells = cells_of(rig, machine, options, sizes);
  const Schedule schedule(plans_of(cells));
  apps::Progress progress("measuring", static_cast<std::int64_t>(cells.size()), context.rank() == 0);
  Measured measured;
  if (!options.write_machine_file.empty() && context.rank() == 0)
    measured.copy_bytes_per_second =
        measure_copies(rig, context.state().runtime().places().count(), sizes.back());
  std::map<std::size_t, Row> mine;
  const auto begin = Clock::now();
  for (std::size_t c = 0; c < cells.size(); ++c) {
    if (c == 0 || !(cells[c].experiment == cells[c - 1].experiment)) apps::Processes::wait_for_all();
    if (!rig.takes_part(cells[c].experiment)) continue;
    Samples samples(rig, cells[c]);
    samples.warm_up();
    const double left_s = options.budget_s - seconds_since(begin);
    const auto cell_begin = Clock::now();
    for (int done = 0;; ++done) {
      const bool more = schedule.another(c, done, left_s, seconds_since(cell_begin));
      if (rig.agree(cells[c].experiment, more ? 1 : 0) == 0) break;
      samples.cycle(done % 2 == 1);
    }
    if (rig.keeps_time(cells[c].experiment)) mine.emplace(c, samples.row());
    progress.update(static_cast<std::int64_t>(c) + 1);
  }
  apps::Processes::wait_for_all();
  measured.rows = gather(cells, mine, machine);
  return measured;
}

}  // namespace nuna_bandwidth
