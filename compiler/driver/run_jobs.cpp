#include "driver/run_jobs.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>

#include "driver/device_section.hpp"
#include "driver/diagnostics_text.hpp"
#include "driver/process.hpp"

namespace nuna::compiler {

namespace {

class Runner {
 public:
  explicit Runner(const Manner& manner) : manner_(manner) {}

  int operator()(const Command& command) {
    show(command);
    return manner_.dry_run ? 0 : Process(command.words, false).wait().status;
  }

  int operator()(const CudaCompilation& job) {
    show(job.device_pass);
    show(job.host_pass);
    if (manner_.dry_run) {
      show(job.join);
      return 0;
    }
    if (!std::filesystem::exists(job.source)) throw std::runtime_error(job.source + ": no such file");
    std::ofstream(job.blob) << job.blob_text << '\0';
    const bool colour = isatty(2) != 0;
    auto words = [&](const Command& command) {
      auto all = command.words;
      if (colour) all.insert(all.begin() + 1, "-fcolor-diagnostics");
      return all;
    };
    Process host(words(job.host_pass), true);
    const auto device = Process(words(job.device_pass), true).wait();
    std::string problem;
    if (device.status == 0) {
      try {  // meanwhile the host pass goes on
        job.device_object ? void() : compile_device(job.device);
      } catch (const std::runtime_error& error) {
        problem = error.what();
      }
    }
    const auto finished = host.wait();
    std::cerr << (colour ? finished.error + device.error
                         : without_counts(finished.error) + only_of_device(device.error, finished.error));
    if (finished.status != 0) return finished.status;
    if (device.status != 0) return device.status;
    if (!problem.empty()) throw std::runtime_error(problem);
    if (job.device_object) write_device_section(job.bitcode, job.host_object, job.device.object);
    return (*this)(job.join);
  }

  int operator()(const DeviceLink& job) {
    if (manner_.dry_run) {
      std::cerr << "# device code of the objects -> " << job.object << '\n';
      return 0;
    }
    const auto code = extract_device_code(job.from, manner_.temporary);
    if (!job.required && (code.linked || code.bitcode.empty())) return 0;
    if (code.bitcode.empty()) {
      write_empty_object(job.object);
      return 0;
    }
    auto device = job.device;
    device.bitcode = code.bitcode;
    compile_device(device);
    return 0;
  }

  int operator()(const HostLink& job) {
    auto command = job.command;
    if (std::filesystem::exists(job.device_link))
      command.words.insert(command.words.begin() + 1, job.device_link);
    const int status = (*this)(command);
    show(job.told);
    return status;
  }

 private:
  void show(const Command& command) const {
    if (manner_.verbose || manner_.dry_run) std::cerr << "#$ " << quoted(command.words) << '\n';
  }

  const Manner& manner_;
};

}  // namespace

int run_jobs(const std::vector<Job>& jobs, const Manner& manner) {
  Runner runner(manner);
  for (const auto& job : jobs) {
    const int status = std::visit(runner, job);
    if (status != 0) return status;
  }
  return 0;
}

}  // namespace nuna::compiler
