#include "nuna-bandwidth/chart.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "nuna/error.hpp"

namespace nuna_bandwidth {
namespace {

constexpr const char* kScript = "nuna-bandwidth-chart";
// What the script ends with when matplotlib cannot be imported.
constexpr int kNoLibrary = 3;

// Beside this program, else wherever the shell would find it.
std::string script() {
  std::error_code failure;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failure);
  if (!failure) {
    const auto beside = self.parent_path() / kScript;
    if (std::filesystem::exists(beside, failure)) return beside.string();
  }
  return kScript;
}

int exit_status(pid_t child) {
  int status = 0;
  if (::waitpid(child, &status, 0) < 0 || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

}  // namespace

void draw_chart(const std::string& json_file, const std::string& chart_file) {
  std::string program = script();
  std::string input = json_file;
  std::string output = chart_file;
  const std::array<char*, 4> arguments{program.data(), input.data(), output.data(), nullptr};
  pid_t child = 0;
  if (::posix_spawnp(&child, program.c_str(), nullptr, nullptr, arguments.data(), environ) != 0) {
    throw nuna::Error(nuna::ErrorCode::unsupported, std::string("no chart: ") + kScript +
                                                        " was not found; install it beside nuna-bandwidth");
  }
  const int status = exit_status(child);
  if (status == 0) return;
  if (status == kNoLibrary) {
    throw nuna::Error(nuna::ErrorCode::unsupported,
                      "no chart: Python has no matplotlib; install python3-matplotlib");
  }
  throw nuna::Error(nuna::ErrorCode::input_output,
                    "no chart: " + std::string(kScript) + " could not write '" + chart_file + "'");
}

}  // namespace nuna_bandwidth
