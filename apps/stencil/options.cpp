#include "stencil/options.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "nuna/error.hpp"

namespace stencil {
namespace {

constexpr int kUsageError = 2;

// What the command line says, before it is checked.
struct Words {
  std::string shape;
  std::string unit;
  std::optional<double> spacing_m;
  std::optional<double> step_ms;
};

[[noreturn]] void refuse(const std::string& text) {
  throw nuna::Error(nuna::ErrorCode::invalid_argument, text);
}

void add_model(CLI::App& app, Options& o, Words& words) {
  const std::string group = "Model";
  app.add_option("--velocity", o.velocity_file,
                 "Velocity model: little-endian float32, depth fastest, x slowest")
      ->group(group)
      ->type_name("FILE");
  app.add_option("--shape", words.shape, "Points along x and z, and y if the model has one (default 401x201)")
      ->group(group)
      ->type_name("NXxNZ[xNY]");
  app.add_option("--velocity-unit", words.unit, "Unit of the file: km/s or m/s (required with --velocity)")
      ->group(group);
  app.add_option("--spacing", words.spacing_m, "Metres between points (required with --velocity, else 10)")
      ->group(group);
  app.add_option("--extrude", o.extrude, "Points along y of a two-dimensional model")
      ->group(group)
      ->capture_default_str();
  app.add_option("--constant", o.constant_m_s, "One velocity everywhere, in m/s, instead of layers")
      ->group(group);
}

void add_experiment(CLI::App& app, Choices& c, Words& words) {
  const std::string group = "Experiment";
  app.add_option("--time", c.duration_s, "Seconds of model time")->group(group)->capture_default_str();
  app.add_option("--steps", c.steps, "Time steps, instead of --time")->group(group);
  app.add_option("--dt", words.step_ms, "Milliseconds of a time step (default 0.98 of the stable limit)")
      ->group(group);
  app.add_option("--frequency", c.frequency_hz,
                 "Peak of the Ricker source, Hz (default: ten points a wavelength)")
      ->group(group);
  app.add_option("--source-x", c.source_x, "Plane of the source (default: the middle)")->group(group);
  app.add_option("--source-z", c.source_z, "Depth of the source, in points (default: below the sponge)")
      ->group(group);
  app.add_option("--receiver-z", c.receiver_z, "Depth of the receivers, in points (default: the source's)")
      ->group(group);
  app.add_option("--sponge", c.sponge, "Points of absorbing frame (default: 40, or a fifth of the axis)")
      ->group(group);
}

void add_run(CLI::App& app, Options& o, bool& no_output) {
  const std::string group = "Run";
  app.add_option("--devices", o.devices, "Devices of each rank (default: NUNA_DEVICES, or 1)")
      ->group(group)
      ->check(CLI::PositiveNumber);
  app.add_option("--ranks", o.ranks, "Ranks inside this process (default: MPI's, or 1)")
      ->group(group)
      ->check(CLI::PositiveNumber);
  app.add_option("--output", o.output, "How the names of the output files begin, with a path")
      ->group(group)
      ->capture_default_str();
  app.add_flag("--no-output", no_output, "Write no files")->group(group);
  app.add_flag("--verify", o.verify, "Compare bit by bit with a serial reference")->group(group);
  app.add_flag("--json", o.json, "Print one JSON object on the last line")->group(group);
}

VelocityUnit unit_of(const std::string& word) {
  if (word == "km/s") return VelocityUnit::kilometres_per_second;
  if (word == "m/s") return VelocityUnit::metres_per_second;
  refuse("'" + word + "' is no unit of velocity; write --velocity-unit km/s or --velocity-unit m/s");
}

void check_file_words(const Options& o, const Words& words) {
  if (o.velocity_file.empty()) {
    if (!words.unit.empty()) refuse("--velocity-unit says how to read a file; name it by --velocity");
    return;
  }
  if (o.constant_m_s) refuse("--constant and --velocity are two models; choose one");
  if (words.unit.empty())
    refuse("a velocity file has no unit of its own; add --velocity-unit km/s or --velocity-unit m/s");
  if (words.shape.empty()) refuse("a velocity file does not say its shape; add --shape NXxNZ or NXxNZxNY");
  if (!words.spacing_m)
    refuse("a velocity file does not say its spacing; add --spacing with the metres between points");
}

void apply(const Words& words, Options& o) {
  check_file_words(o, words);
  if (!words.unit.empty()) o.unit = unit_of(words.unit);
  if (!words.shape.empty()) o.shape = parse_shape(words.shape);
  if (words.spacing_m) o.spacing_m = *words.spacing_m;
  if (words.step_ms) o.choices.step_s = *words.step_ms * 1e-3;
}

}  // namespace

std::optional<Options> parse_options(int argc, const char* const* argv, int& exit_code) {
  Options options;
  Words words;
  bool no_output = false;
  CLI::App app("Acoustic waves through a velocity model, by a 25-point stencil on all devices of all ranks",
               "stencil");
  add_model(app, options, words);
  add_experiment(app, options.choices, words);
  add_run(app, options, no_output);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    exit_code = e.get_exit_code() == 0 ? app.exit(e) : kUsageError;
    if (exit_code != 0) std::fprintf(stderr, "stencil: %s; --help lists the options\n", e.what());
    return std::nullopt;
  }
  apply(words, options);
  if (options.output.empty())
    refuse("--output is empty; name how the files begin, or write none by --no-output");
  if (no_output) options.output.clear();
  return options;
}

VelocityModel make_model(const Options& o) {
  if (!o.velocity_file.empty())
    return load_velocity(o.velocity_file, o.shape, o.unit, o.spacing_m, o.extrude);
  if (o.constant_m_s) return constant_velocity(o.shape, o.spacing_m, o.extrude, *o.constant_m_s);
  return layered_velocity(o.shape, o.spacing_m, o.extrude);
}

}  // namespace stencil
