// nuna-bandwidth: what copies and messages reach on this machine. See docs/tools.md, or --help.

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <filesystem>
#include <optional>

#include "base/settings.hpp"
#include "base/units.hpp"
#include "common/output_files.hpp"
#include "common/processes.hpp"
#include "context_state.hpp"
#include "nuna-bandwidth/chart.hpp"
#include "nuna-bandwidth/measure.hpp"
#include "nuna-bandwidth/measured_machine.hpp"
#include "nuna-bandwidth/options.hpp"
#include "nuna-bandwidth/predict.hpp"
#include "topology/machine_file.hpp"

namespace {

using namespace nuna_bandwidth;
using nuna::topology::Machine;

constexpr const char* kStandardOutput = "-";

void write_file(const std::string& name, const std::string& text) {
  apps::OutputFiles files;
  files.add(name, [&](apps::FileWriter& out) { out.write(text.data(), text.size()); });
  files.commit();
}

void require_outputs(const Options& options) {
  for (const std::string& name : {options.json_file, options.chart_file, options.write_machine_file}) {
    if (!name.empty() && name != kStandardOutput) apps::OutputFiles::require_writable(name);
  }
}

Json to_json(const Machine& machine, const std::vector<Row>& rows, bool measured) {
  Json json{{"tool", "nuna-bandwidth"}, {"version", NUNA_VERSION},  {"measured", measured},
            {"machine", machine.name},  {"source", machine.source}, {"ranks", machine.ranks.size()},
            {"rows", Json::array()}};
  for (const Row& row : rows) json["rows"].push_back(nuna_bandwidth::to_json(row, machine));
  return json;
}

void draw(const Options& options, const std::string& json) {
  const std::string name = options.chart_file + ".json-" + std::to_string(::getpid());
  write_file(name, json);
  try {
    draw_chart(name, options.chart_file);
  } catch (...) {
    std::filesystem::remove(name);
    throw;
  }
  std::filesystem::remove(name);
}

void print(const Options& options, const Machine& machine, const std::vector<Row>& rows, bool measured) {
  const std::string json = to_json(machine, rows, measured).dump(1) + "\n";
  const bool only_json = options.json_file == kStandardOutput;
  std::fputs(only_json ? json.c_str() : to_text(rows, machine).c_str(), stdout);
  apps::finish_standard_output();
  if (!options.json_file.empty() && !only_json) write_file(options.json_file, json);
  if (!options.chart_file.empty()) draw(options, json);
}

void require_rows(const std::vector<Row>& rows) {
  if (!rows.empty()) return;
  throw nuna::Error(
      nuna::ErrorCode::invalid_argument,
      "there are no two memories between which one of these schemes moves bytes: use more devices "
      "(--devices 2), more ranks (mpirun -n 2), or other --schemes");
}

int predict(const Options& options) {
  require_outputs(options);
  const Machine machine = nuna::topology::read_machine_file(options.machine_file);
  const std::vector<Row> rows = predicted(machine, options.sizes, options.schemes, options.all);
  require_rows(rows);
  print(options, machine, rows, false);
  return EXIT_SUCCESS;
}

int devices_of(const Options& options) {
  if (options.devices > 0) return options.devices;
  return nuna::base::Settings::from_environment().has("NUNA_DEVICES") ? 0 : 2;
}

// Alike on all ranks: what the node with the least memory has room for, and each memory twice.
std::vector<nuna::Index> sizes_for(const Options& options, nuna::detail::RankRuntime& runtime) {
  const Machine& machine = runtime.machine();
  const int node = machine.ranks[static_cast<std::size_t>(runtime.rank().value)].node;
  int sharers = 0;
  for (const auto& rank : machine.ranks) sharers += rank.node == node ? 1 : 0;
  std::vector<nuna::Index> fitting =
      that_fit(options.sizes, available_bytes(), runtime.places().count(), sharers);
  const auto most = static_cast<nuna::Index>(runtime.config().memory_limit_bytes / 2);
  while (fitting.size() > 1 && fitting.back() > most) fitting.pop_back();
  const auto count =
      static_cast<std::size_t>(apps::Processes::least(static_cast<std::int64_t>(fitting.size())));
  if (count < options.sizes.size() && runtime.rank().value == 0) {
    std::fprintf(stderr, "nuna-bandwidth: there is memory for sizes up to %s only\n",
                 nuna::base::rounded_bytes(fitting[count - 1]).c_str());
  }
  return {fitting.begin(), fitting.begin() + static_cast<std::ptrdiff_t>(count)};
}

std::string source_of(const Machine& machine) {
  char date[32] = "";
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  if (::localtime_r(&now, &local) != nullptr) std::strftime(date, sizeof date, "%Y-%m-%d", &local);
  return "measured by nuna-bandwidth " NUNA_VERSION " on " + machine.nodes.front().name + ", " + date;
}

void describe(const Machine& machine, const std::vector<nuna::Index>& sizes) {
  std::printf(
      "%zu rank%s, %zu devices; %s to %s; GB/s of both directions together; above 1: nuna is quicker\n\n",
      machine.ranks.size(), machine.ranks.size() == 1 ? "" : "s", machine.devices.size(),
      nuna::base::rounded_bytes(sizes.front()).c_str(), nuna::base::rounded_bytes(sizes.back()).c_str());
}

int measure_run(const Options& options) {
  apps::Processes::start();
  bool writable = true;
  if (apps::Processes::rank() == 0) {
    try {
      require_outputs(options);
    } catch (const std::exception& e) {
      std::fprintf(stderr, "nuna-bandwidth: %s\n", e.what());
      writable = false;
    }
  }
  if (!apps::Processes::all_agree(writable)) return EXIT_FAILURE;
  nuna::Options nuna_options;
  nuna_options.devices = devices_of(options);
  nuna::Context context = nuna::Context::world(0, nullptr, nuna_options);
  auto& runtime = context.state().runtime();
  const std::vector<nuna::Index> sizes = sizes_for(options, runtime);
  const Measured measured = measure(context, options, sizes);
  if (context.rank() != 0) return EXIT_SUCCESS;
  require_rows(measured.rows);
  if (options.json_file != kStandardOutput) describe(runtime.machine(), sizes);
  print(options, runtime.machine(), measured.rows, true);
  if (!options.write_machine_file.empty()) {
    write_file(
        options.write_machine_file,
        nuna::topology::write_machine(measured_machine(
            runtime.machine(), measured.rows, measured.copy_bytes_per_second, source_of(runtime.machine()))));
  }
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  int exit_code = EXIT_SUCCESS;
  const std::optional<Options> options = parse_options(argc, argv, exit_code);
  if (!options) return exit_code;
  apps::remove_unfinished_on_signals();
  try {
    return options->machine_file.empty() ? measure_run(*options) : predict(*options);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "nuna-bandwidth: %s\n", e.what());
  }
  apps::Processes::end_all(EXIT_FAILURE);
  return EXIT_FAILURE;
}
