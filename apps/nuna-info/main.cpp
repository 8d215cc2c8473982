// nuna-info: what Nuna finds on this machine. See docs/tools.md, or --help.

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <optional>

#include "common/output_files.hpp"
#include "common/processes.hpp"
#include "nuna-info/collect.hpp"
#include "nuna-info/options.hpp"
#include "nuna-info/report.hpp"
#include "topology/machine_file.hpp"

namespace {

int show_file(const nuna_info::Options& options) {
  const nuna::topology::Machine machine = nuna::topology::read_machine_file(options.machine_file);
  const std::string text = options.json ? nuna_info::file_json(machine, options.sizes).dump(2) + "\n"
                                        : nuna_info::file_text(machine, options.sizes);
  std::fputs(text.c_str(), stdout);
  apps::finish_standard_output();
  return EXIT_SUCCESS;
}

int show_run(const nuna_info::Options& options) {
  apps::Processes::start();
  const nuna_info::Findings findings = nuna_info::collect(options);
  if (!findings.first_rank) return EXIT_SUCCESS;
  const std::string text =
      options.json ? nuna_info::to_json(findings).dump(2) + "\n" : nuna_info::to_text(findings);
  std::fputs(text.c_str(), stdout);
  apps::finish_standard_output();
  for (const std::string& problem : findings.problems)
    std::fprintf(stderr, "nuna-info: %s\n", problem.c_str());
  return findings.problems.empty() ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    int exit_code = EXIT_SUCCESS;
    const std::optional<nuna_info::Options> options = nuna_info::parse_options(argc, argv, exit_code);
    if (!options) return exit_code;
    return options->machine_file.empty() ? show_run(*options) : show_file(*options);
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "nuna-info: not enough memory for so large a machine; ask for a smaller one\n");
  } catch (const std::exception& e) {
    std::fprintf(stderr, "nuna-info: %s\n", e.what());
  }
  return EXIT_FAILURE;
}
