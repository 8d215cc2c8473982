#include "nuna-bandwidth/options.hpp"

#include <absl/strings/str_split.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>

#include "common/sizes.hpp"
#include "nuna-bandwidth/predict.hpp"
#include "nuna/error.hpp"

namespace nuna_bandwidth {
namespace {

constexpr int kUsageError = 2;
constexpr double kBudgetSeconds = 38.0;
constexpr double kQuickBudgetSeconds = 5.0;
constexpr nuna::Index kMostMeasuredBytes = nuna::Index{1} << 30;
constexpr const char* kSizes = "4KiB..256MiB";
constexpr const char* kQuickSizes = "4KiB,64KiB,1MiB,16MiB";

struct Words {
  std::optional<std::string> sizes;
  std::optional<std::string> most_size;
  std::string block = "2MiB";
  std::string schemes = "naive,pinned,double-buffered,direct,mpi,nuna";
  std::optional<double> budget_s;
  bool quick = false;
  bool api = false;
};

[[noreturn]] void refuse(const std::string& text) {
  throw nuna::Error(nuna::ErrorCode::invalid_argument, text);
}

void add_what(CLI::App& app, Options& o, Words& words) {
  const std::string group = "What is measured";
  app.add_option("--devices", o.devices, "Devices of each rank (default: NUNA_DEVICES, or 2)")
      ->group(group)
      ->check(CLI::Range(1, nuna::base::kMaxPlaces - 1));
  app.add_option("--sizes", words.sizes,
                 "Sizes: 64KiB,1MiB or 4KiB..256MiB, in steps of 4 (default 4KiB..256MiB)")
      ->group(group);
  app.add_option("--max-size", words.most_size, "Leave out what is larger")->group(group);
  app.add_option("--schemes", words.schemes, "Schemes, with commas between them")
      ->group(group)
      ->capture_default_str();
  app.add_flag("--api", words.api, "Also through Nuna's public interface, between two ranks")->group(group);
  app.add_option("--block", words.block, "Largest block of double buffering")
      ->group(group)
      ->capture_default_str();
  app.add_flag("--all", o.all, "Every rank, and every pair of memories of every two ranks")->group(group);
  app.add_flag("--quick", words.quick, "Four sizes, in less than ten seconds")->group(group);
  app.add_option("--budget", words.budget_s, "Seconds that the measuring may take (default 38, quick 5)")
      ->group(group);
  app.add_option("--machine", o.machine_file, "Do not measure: predict for a machine file")
      ->group(group)
      ->type_name("FILE");
}

void add_output(CLI::App& app, Options& o) {
  const std::string group = "Output";
  app.add_option("--json", o.json_file,
                 "Write medians and quartiles as JSON; - is standard output, without the table")
      ->group(group)
      ->type_name("FILE");
  app.add_option("--chart", o.chart_file, "Draw a chart (needs nuna-bandwidth-chart and python3-matplotlib)")
      ->group(group)
      ->type_name("FILE.png");
  app.add_option("--write-machine", o.write_machine_file, "Write the measured machine, for NUNA_MACHINE")
      ->group(group)
      ->type_name("FILE.toml");
}

std::vector<Scheme> parse_schemes(const std::string& text) {
  std::vector<Scheme> schemes;
  const std::vector<std::string> names = absl::StrSplit(text, ',');
  for (const std::string& name : names) {
    const auto scheme = scheme_of(name);
    if (!scheme)
      refuse("--schemes \"" + name +
             "\" is no scheme: use naive, pinned, double-buffered, direct, mpi, nuna, api");
    schemes.push_back(*scheme);
  }
  return schemes;
}

void apply(const Words& words, Options& o) {
  o.sizes = apps::parse_sizes(words.sizes.value_or(words.quick ? kQuickSizes : kSizes), "--sizes");
  if (words.most_size) {
    const nuna::Index most = apps::parse_size(*words.most_size, "--max-size");
    std::erase_if(o.sizes, [&](nuna::Index size) { return size > most; });
    if (o.sizes.empty()) refuse("--max-size \"" + *words.most_size + "\" leaves no size to measure");
  }
  if (o.machine_file.empty() && o.sizes.back() > kMostMeasuredBytes)
    refuse("--sizes goes beyond 1 GiB, which is more than one MPI message written by hand; use smaller ones");
  o.block_bytes = apps::parse_size(words.block, "--block");
  o.schemes = parse_schemes(words.schemes);
  if (words.api) o.schemes.push_back(Scheme::api);
  o.budget_s = words.budget_s.value_or(words.quick ? kQuickBudgetSeconds : kBudgetSeconds);
  if (!(o.budget_s > 0.0 && o.budget_s <= 86'400.0))
    refuse("--budget is a number of seconds above 0, at most 86400");
  if (!o.machine_file.empty() && !o.write_machine_file.empty())
    refuse("--write-machine writes what was measured, and --machine measures nothing; choose one");
}

}  // namespace

std::optional<Options> parse_options(int argc, const char* const* argv, int& exit_code) {
  Options options;
  Words words;
  CLI::App app("What copies and messages reach: written by hand, by several schemes, and by Nuna",
               "nuna-bandwidth");
  app.set_version_flag("--version", "nuna-bandwidth " NUNA_VERSION);
  add_what(app, options, words);
  add_output(app, options);
  try {
    app.parse(argc, argv);
    apply(words, options);
  } catch (const CLI::ParseError& e) {
    exit_code = e.get_exit_code() == 0 ? app.exit(e) : kUsageError;
    if (exit_code != 0) std::fprintf(stderr, "nuna-bandwidth: %s; --help lists the options\n", e.what());
    return std::nullopt;
  } catch (const std::exception& e) {
    exit_code = kUsageError;
    std::fprintf(stderr, "nuna-bandwidth: %s\n", e.what());
    return std::nullopt;
  }
  return options;
}

}  // namespace nuna_bandwidth
