#include "driver/run_jobs.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <optional>
#include <stdexcept>

#include "access/explain.hpp"
#include "driver/device_section.hpp"
#include "driver/diagnostics_text.hpp"
#include "driver/process.hpp"
#include "driver/resources_text.hpp"
#include "driver/second_reading.hpp"
#include "driver/shared_variables.hpp"

namespace nuna::compiler {

namespace {

/// nvcc, while clang reads the same source. What it takes badly is no error: there is no PTX then.
class PtxPass {
 public:
  PtxPass(const CudaCompilation& job, bool verbose) : file_(job.device.ptx), verbose_(verbose) {
    if (!job.ptx_pass.words.empty()) nvcc_.emplace(job.ptx_pass.words, true);
  }
  ~PtxPass() {
    if (nvcc_) nvcc_->stop();
  }
  PtxPass(const PtxPass&) = delete;
  PtxPass& operator=(const PtxPass&) = delete;

  /// What it has written; "" if nothing. Waits.
  const std::string& file() {
    if (!nvcc_) return file_;
    const auto finished = nvcc_->wait();
    nvcc_.reset();
    if (finished.status == 0) return file_;
    if (verbose_)
      std::cerr << "# no PTX, as nvcc ends with status " << finished.status << ":\n" << finished.error;
    file_.clear();
    return file_;
  }

 private:
  std::optional<Process> nvcc_;
  std::string file_;
  const bool verbose_;
};

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
    if (!job.ptx_pass.words.empty()) show(job.ptx_pass);
    if (manner_.dry_run) {
      show(job.join);
      return 0;
    }
    if (!std::filesystem::exists(job.source)) throw std::runtime_error(job.source + ": no such file");
    std::ofstream(job.blob) << job.blob_text << '\0';
    PtxPass ptx(job, manner_.verbose);
    auto passes = read_source(job, {}, ptx);
    const auto first = passes;
    SecondReading second;
    while (passes.failed() && second.learn(passes.host.error + passes.device.error, text_of))
      passes = read_source(job, options_for(second), ptx);
    if (passes.failed() && second.files().empty()) passes = first;  // more options have not helped
    std::cerr << explained(without_counts(passes.host.error) +
                           only_of_device(passes.device.error, passes.host.error));
    if (passes.host.status != 0) return passes.host.status;
    if (passes.device.status != 0) return passes.device.status;
    if (!passes.problem.empty()) throw std::runtime_error(passes.problem);
    keep(passes.code);
    if (job.device_object) write_device_section(job.bitcode, job.host_object, job.device.object);
    const auto shared = shared_variables(job.host_object, job.device.object);
    if (!shared.empty()) bind_symbols(job.host_object, shared, Binding::global);
    const int status = (*this)(job.join);
    if (status == 0 && !shared.empty()) bind_symbols(job.object, shared, Binding::local);
    return status;
  }

  int operator()(const Explanation& job) {
    show(job.device_pass);
    if (manner_.dry_run) return 0;
    if (!std::filesystem::exists(job.source)) throw std::runtime_error(job.source + ": no such file");
    auto read = [&](const std::vector<std::string>& more) {
      return Process(with(more, job.device_pass), true).wait();
    };
    auto pass = read({});
    const auto first = pass;
    SecondReading second;
    while (pass.status != 0 && second.learn(pass.error, text_of)) pass = read(options_for(second));
    if (pass.status != 0 && second.files().empty()) pass = first;
    std::cerr << explained(pass.error);
    if (pass.status != 0) return pass.status;
    const auto models = model_device(job.device);
    std::cout << explain(models);
    keep(models);
    return 0;
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
    keep(compile_device(device));
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

  /// Of all kernels that were compiled or explained.
  void write_models() const {
    if (manner_.model.empty() || manner_.dry_run) return;
    std::ofstream file(manner_.model, std::ios::binary);
    file << access::write_models(models_);
    if (!file.flush()) throw std::runtime_error("--model " + manner_.model + ": cannot be written");
  }

 private:
  struct Passes {
    Finished host;
    Finished device;
    std::string problem;  ///< of code generation
    CompiledDevice code;
    bool failed() const { return host.status != 0 || device.status != 0; }
  };

  std::vector<std::string> with(const std::vector<std::string>& more, const Command& command) const {
    auto all = command.words;
    all.insert(all.begin() + 1, more.begin(), more.end());
    if (colour_) all.insert(all.begin() + 1, "-fcolor-diagnostics");
    return all;
  }

  Passes read_source(const CudaCompilation& job, const std::vector<std::string>& more, PtxPass& ptx) {
    Process host(with(more, job.host_pass), true);
    Passes passes;
    passes.device = Process(with(more, job.device_pass), true).wait();
    if (passes.device.status == 0) {
      try {  // meanwhile the host pass goes on
        auto device = job.device;
        device.ptx = ptx.file();
        if (!job.device_object) passes.code = compile_device(device);
      } catch (const std::runtime_error& error) {
        passes.problem = error.what();
      }
    }
    passes.host = host.wait();
    return passes;
  }

  void keep(const CompiledDevice& code) {
    if (manner_.resources) std::cerr << resources_text(code);
    keep(code.models);
  }
  void keep(const std::vector<access::KernelModel>& models) {
    if (!manner_.model.empty()) models_.insert(models_.end(), models.begin(), models.end());
  }

  static std::string text_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  /// Clang reads the files that the second reading has changed through an overlay, under their own names.
  std::vector<std::string> options_for(const SecondReading& second) const {
    auto options = second.options();
    if (second.files().empty()) return options;
    std::map<std::string, std::string> by_name;
    for (const auto& [name, text] : second.files()) {
      const auto file = manner_.temporary + "/second-" + std::to_string(by_name.size());
      std::ofstream(file, std::ios::binary) << text;
      by_name[std::filesystem::absolute(name).lexically_normal().string()] =
          std::filesystem::absolute(file).string();
    }
    const auto overlay = manner_.temporary + "/overlay.yaml";
    std::ofstream(overlay) << overlay_text(by_name);
    options.insert(options.end(), {"-ivfsoverlay", overlay});
    return options;
  }

  void show(const Command& command) const {
    if (manner_.verbose || manner_.dry_run) std::cerr << "#$ " << quoted(command.words) << '\n';
  }

  const Manner& manner_;
  std::vector<access::KernelModel> models_;
  const bool colour_ = isatty(2) != 0;
};

}  // namespace

int run_jobs(const std::vector<Job>& jobs, const Manner& manner) {
  Runner runner(manner);
  for (const auto& job : jobs) {
    const int status = std::visit(runner, job);
    if (status != 0) return status;
  }
  runner.write_models();
  return 0;
}

}  // namespace nuna::compiler
