// stencil: seismic waves on all devices of all ranks. See README.md, or --help.

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <optional>

#include "common/output_files.hpp"
#include "common/progress.hpp"
#include "common/report.hpp"
#include "nuna/nuna.hpp"
#include "stencil/options.hpp"
#include "stencil/output.hpp"
#include "stencil/reference.hpp"
#include "stencil/simulation.hpp"

namespace {

using stencil::Experiment;
using stencil::Fields;
using stencil::Options;

struct Outcome {
  bool first_rank = false;
  apps::Report report;
  std::optional<Fields> fields;
};

void describe(const stencil::VelocityModel& model, const Experiment& e) {
  std::printf("model       %lld x %lld x %lld points (x, y, z), %g m apart, %g to %g m/s%s\n",
              static_cast<long long>(e.nx), static_cast<long long>(e.ny), static_cast<long long>(e.nz),
              model.spacing_m, double(model.slowest_m_s()), double(model.fastest_m_s()),
              model.extruded ? ", extruded along y" : "");
  std::printf("time        %lld steps of %.4g ms (stable up to %.4g ms), %.4g s in all\n",
              static_cast<long long>(e.steps), e.step_s * 1e3, e.largest_stable_step_s * 1e3,
              double(e.steps) * e.step_s);
  std::printf("source      Ricker of %.4g Hz at x %lld, z %lld; %lld receivers at z %lld\n", e.frequency_hz,
              static_cast<long long>(e.source_x), static_cast<long long>(e.source_z),
              static_cast<long long>(e.nx), static_cast<long long>(e.receiver_z));
  std::fflush(stdout);
}

// One rank's part. Everything that takes long and needs no other rank waits until the Context has gone, so
// that nobody waits for rank 0.
Outcome run_rank(nuna::Context& context, const stencil::VelocityModel& model, const Experiment& experiment) {
  Outcome outcome;
  outcome.first_rank = context.rank() == 0;
  if (outcome.first_rank) describe(model, experiment);
  apps::Progress progress("waves    ", experiment.steps, outcome.first_rank);
  stencil::SimulationRun run =
      stencil::simulate(context, experiment, [&](std::int64_t step) { progress.update(step); });
  outcome.report.seconds = run.seconds;
  outcome.fields = std::move(run.fields);
  apps::add_counters(outcome.report, context);
  return outcome;
}

Outcome run_everywhere(const Options& options, const stencil::VelocityModel& model,
                       const Experiment& experiment, int argc, char** argv) {
  nuna::Options nuna_options;
  nuna_options.devices = options.devices;
  Outcome outcome;
  if (options.ranks == 0) {
    nuna::Context context = nuna::Context::world(argc, argv, nuna_options);
    return run_rank(context, model, experiment);
  }
  nuna::Context::in_process(options.ranks, nuna_options, [&](nuna::Context& context) {
    Outcome mine = run_rank(context, model, experiment);
    if (mine.first_rank) outcome = std::move(mine);
  });
  return outcome;
}

// Says on standard error what differs.
bool verify(const Experiment& experiment, const Fields& fields) {
  apps::Progress progress("reference", experiment.steps);
  const Fields reference = run_reference(experiment, [&](std::int64_t step) { progress.update(step); });
  const std::string difference = first_difference(fields, reference);
  if (!difference.empty()) std::fprintf(stderr, "stencil: %s\n", difference.c_str());
  return difference.empty();
}

void finish_report(apps::Report& report, const Experiment& e) {
  const double work = double(e.points()) * double(e.steps);
  report.app = "stencil";
  report.more["points"] = e.points();
  report.more["steps"] = e.steps;
  report.more["points_per_second"] = report.seconds > 0.0 ? work / report.seconds : 0.0;
  report.more["step_seconds"] = e.step_s;
  report.more["frequency_hz"] = e.frequency_hz;
}

void print_result(const apps::Report& report) {
  std::printf(
      "result      %.3g s on %d rank%s of %d device%s, %.3g million points a second, %.3g %% of it "
      "transfers%s%s\n",
      report.seconds, report.ranks, report.ranks == 1 ? "" : "s", report.devices,
      report.devices == 1 ? "" : "s", report.more["points_per_second"].get<double>() * 1e-6,
      report.transfer_share * 100.0,
      !report.verified ? "" : (*report.verified ? "; verified" : "; NOT equal to the serial reference"),
      report.dry_run ? "; a dry run: nothing was computed" : "");
}

int run(int argc, char** argv) {
  int exit_code = EXIT_SUCCESS;
  const std::optional<Options> options = stencil::parse_options(argc, argv, exit_code);
  if (!options) return exit_code;
  const stencil::VelocityModel model = make_model(*options);
  const Experiment experiment = make_experiment(model, options->choices);
  if (!options->output.empty()) stencil::require_output(options->output);

  Outcome outcome = run_everywhere(*options, model, experiment, argc, argv);
  if (!outcome.first_rank) return EXIT_SUCCESS;
  finish_report(outcome.report, experiment);
  const bool dry = outcome.report.dry_run;
  if (options->verify && !dry) outcome.report.verified = verify(experiment, *outcome.fields);
  print_result(outcome.report);
  if (!options->output.empty() && !dry) {
    for (const std::string& name : write_output(options->output, model, experiment, *outcome.fields)) {
      std::printf("written     %s\n", name.c_str());
    }
  }
  if (options->json) std::printf("%s\n", outcome.report.to_line().c_str());
  apps::finish_standard_output();
  return outcome.report.verified.value_or(true) ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file-size limit is a failed write, with a message, not a death
  apps::remove_unfinished_on_signals();
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("stencil: this process has not enough memory for the model; use a smaller one\n", stderr);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "stencil: %s\n", e.what());
  }
  return EXIT_FAILURE;
}
