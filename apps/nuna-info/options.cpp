#include "nuna-info/options.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "base/ids.hpp"
#include "common/sizes.hpp"

namespace nuna_info {
namespace {

constexpr int kUsageError = 2;

struct Words {
  std::string sizes = "4KiB,64KiB,1MiB,16MiB";
};

void add_options(CLI::App& app, Options& o, Words& words) {
  app.add_option("--devices", o.devices, "Devices of each rank (default: NUNA_DEVICES, or 1)")
      ->check(CLI::Range(1, nuna::base::kMaxPlaces - 1));
  app.add_option("--ranks", o.ranks, "Ranks inside this process (default: MPI's, or 1)")
      ->check(CLI::Range(1, 1024));
  app.add_flag("--routes", o.routes,
               "Every way between every two memories: time, reason, or why it is not possible");
  app.add_option("--size", words.sizes, "Sizes for --routes: 64KiB,1MiB or 4KiB..16MiB")
      ->type_name("SIZES")
      ->capture_default_str();
  app.add_option("--machine", o.machine_file, "Show the routes of a machine file, without running on it")
      ->type_name("FILE");
  app.add_flag("--json", o.json, "Print one JSON object");
}

}  // namespace

std::optional<Options> parse_options(int argc, const char* const* argv, int& exit_code) {
  Options options;
  Words words;
  CLI::App app("What Nuna finds on this machine: devices, memories, routes, MPI, limits of the kernel",
               "nuna-info");
  app.set_version_flag("--version", "nuna-info " NUNA_VERSION);
  add_options(app, options, words);
  try {
    app.parse(argc, argv);
    options.sizes = apps::parse_sizes(words.sizes, "--size");
  } catch (const CLI::ParseError& e) {
    exit_code = e.get_exit_code() == 0 ? app.exit(e) : kUsageError;
    if (exit_code != 0) std::fprintf(stderr, "nuna-info: %s; --help lists the options\n", e.what());
    return std::nullopt;
  } catch (const std::exception& e) {
    exit_code = kUsageError;
    std::fprintf(stderr, "nuna-info: %s\n", e.what());
    return std::nullopt;
  }
  return options;
}

}  // namespace nuna_info
