// nunacc: compiles CUDA source that was written for one GPU, unmodified, for CPU cores. See docs/nunacc.md.

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <optional>
#include <stdexcept>

#include "driver/command_line.hpp"
#include "driver/installation.hpp"
#include "driver/jobs.hpp"
#include "driver/run_jobs.hpp"
#include "driver/temporary_folder.hpp"
#include "nuna/version.hpp"

namespace nuna::compiler {

namespace {

/// Told before the work that would be in vain.
void require_writable(const std::string& output) {
  if (output.empty() || output == "-") return;
  const std::filesystem::path folder = std::filesystem::path(output).parent_path();
  const std::string asked = std::filesystem::exists(output) ? output : folder.empty() ? "." : folder.string();
  if (::access(asked.c_str(), W_OK) != 0)
    throw std::runtime_error(output + ": cannot be written: " + asked + ": " + std::strerror(errno));
}

/// Laid out as nvcc's, which build systems read: they look for "release 12.8, V12.8.x".
void print_version() {
  std::cout << "nunacc of Nuna " << NUNA_VERSION << ": CUDA for CPU cores, with the command line of\n"
            << "nvcc: NVIDIA (R) Cuda compiler driver\n"
            << "Cuda compilation tools, release 12.8, V12.8.0\n";
}

/// What nvcc -v says first, and CMake reads.
void print_places(const Installation& installation) {
  std::cerr << "#$ TOP=" << installation.toolkit << "\n#$ NVVMIR_LIBRARY_DIR=" << installation.toolkit
            << "/nvvm/libdevice\n#$ PATH=" << std::filesystem::path(installation.self).parent_path().string()
            << "\n#$ LIBRARIES=-L" << installation.runtime_folder << "\n#$ INCLUDES=";
  for (const auto& folder : installation.include_folders) std::cerr << "-I" << folder << ' ';
  std::cerr << "\n#$ # device code: -arch compute_80\n";
}

int run(const std::vector<std::string>& arguments) {
  auto installation = find_installation();
  auto line = read_command_line(arguments);
  if (line.verbose || line.dry_run) print_places(installation);
  line.audit |= audit_is_set();
  if (line.help) {
    std::cout << help_text();
    return 0;
  }
  if (line.version) {
    print_version();
    return 0;
  }
  if (line.ptx) installation.nvcc = find_nvcc(line.cuda_path, installation.self);
  if (!line.dry_run) require_writable(line.output);
  std::optional<TemporaryFolder> temporary;
  if (!line.keep) temporary.emplace();
  const std::string between = temporary                  ? temporary->path()
                              : line.keep_folder.empty() ? "."
                                                         : line.keep_folder;
  const auto jobs = plan_jobs(line, installation, between);
  return run_jobs(jobs, {line.verbose, line.dry_run, line.resources, between, line.model});
}

}  // namespace

}  // namespace nuna::compiler

int main(int argc, char** argv) {
  try {
    return nuna::compiler::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::cerr << "nunacc: " << error.what() << '\n';
    return 1;
  }
}
