#include "driver/jobs.hpp"

#include <filesystem>
#include <functional>
#include <stdexcept>

namespace nuna::compiler {

namespace {

using Strings = std::vector<std::string>;

void append(Strings& to, const Strings& more) { to.insert(to.end(), more.begin(), more.end()); }

/// PTX of the oldest GPU that is asked for runs on all of them. Else it is of the same code as the models of kernels, which
/// clang reads for compute_80.
std::string oldest_architecture(const Strings& all) {
  std::string oldest;
  unsigned long least = 0;
  for (const auto& name : all) {
    const auto digits = name.find('_') + 1;
    const auto number = std::stoul(name.substr(digits));
    if (!oldest.empty() && number >= least) continue;
    oldest = "compute_" + name.substr(digits);
    least = number;
  }
  return oldest.empty() ? "compute_80" : oldest;
}

class Planner {
 public:
  Planner(const CommandLine& line, const Installation& installation, std::string temporary)
      : line_(line), installation_(installation), temporary_(std::move(temporary)) {}

  std::vector<Job> plan() {
    if (line_.inputs.empty()) throw std::runtime_error("no input files (nunacc --help says more)");
    for (const auto& input : line_.inputs) {
      if (input.kind != Input::Kind::library && input.path == line_.output)
        throw std::runtime_error("-o " + line_.output + ": would be written over itself");
      if (input.kind == Input::Kind::unknown)
        throw std::runtime_error(
            input.path + ": a file of this kind is not compiled; say what it is with -x cu, -x c++ or -x c");
    }
    switch (line_.goal) {
      case Goal::ptx:
        throw std::runtime_error("-ptx: code for GPUs is not written by nunacc; use nvcc -ptx");
      case Goal::preprocess:
      case Goal::dependencies:
        plan_preprocessing();
        break;
      case Goal::compile:
        plan_compilation();
        break;
      case Goal::explain:
        plan_explanations();
        break;
      case Goal::device_link:
        plan_device_link();
        break;
      case Goal::library:
        plan_library();
        break;
      case Goal::link:
        plan_link();
        break;
    }
    return std::move(jobs_);
  }

 private:
  bool is_source(const Input& input) const {
    return input.kind != Input::Kind::object && input.kind != Input::Kind::library;
  }

  std::string between(const std::string& source, const char* suffix) {
    return temporary_ + "/" + std::to_string(next_) + "-" + std::filesystem::path(source).stem().string() +
           suffix;
  }

  /// What clang calls an error, and gcc or nvcc a warning at most.
  static Strings laxities(Input::Kind kind) {
    if (kind == Input::Kind::c) return {"implicit-function-declaration", "implicit-int", "int-conversion"};
    return {"c++11-narrowing", "reserved-user-defined-literal", "register"};
  }

  Strings front_end(const Input& input) const {
    Strings words{installation_.clang};
    const bool cuda = input.kind == Input::Kind::cuda;
    append(words, {"-x", cuda ? "cuda" : input.kind == Input::Kind::cxx ? "c++" : "c"});
    if (cuda)
      append(words,
             {"--cuda-gpu-arch=sm_80", "-nocudainc", "-nocudalib", "-nogpuinc", "-Wno-unknown-cuda-version"});
    for (const auto& laxity : laxities(input.kind)) words.push_back("-Wno-error=" + laxity);
    if (cuda) words.emplace_back("-D__NVCC__=1");
    append(words, line_.preprocessing);
    for (const auto& folder : installation_.include_folders) append(words, {"-isystem", folder});
    if (cuda) append(words, {"-include", "cuda_runtime.h"});
    if (line_.per_thread_stream) words.emplace_back("-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1");
    if (line_.device_objects && cuda) words.emplace_back("-D__CUDACC_RDC__=1");
    for (const auto& option : line_.both) {
      if (input.kind != Input::Kind::c || option.compare(0, 8, "-std=c++") != 0) words.push_back(option);
    }
    return words;
  }

  Strings host_options() const {
    // Objects go into libraries and programs alike. gcc, nvcc's host compiler, lets sums wrap where clang would conclude.
    Strings words{"-fPIC", "-fwrapv"};
    append(words, line_.host);
    return words;
  }

  void compile(const Input& input, const std::string& object) {
    if (input.kind != Input::Kind::cuda) {
      Strings words = front_end(input);
      append(words, host_options());
      append(words, line_.dependencies);
      append(words, {"-c", input.path, "-o", object});
      jobs_.emplace_back(Command{std::move(words)});
      return;
    }
    CudaCompilation job;
    job.source = input.path;
    job.object = object;
    job.bitcode = between(input.path, ".bc");
    job.host_object = between(input.path, ".host.o");
    job.blob = between(input.path, ".id");
    const auto unit = image_id(input.path, object);
    const auto id = line_.device_objects ? std::string() : unit;
    job.blob_text = "nuna:" + id;
    job.device_object = line_.device_objects;

    job.device_pass.words = device_pass(input, job.bitcode);
    if (line_.device_objects) job.device_pass.words.push_back(linked_unit(unit));

    job.host_pass.words = front_end(input);
    append(job.host_pass.words, {"--cuda-host-only", "-ffp-contract=off"});
    append(job.host_pass.words, host_options());
    append(job.host_pass.words, line_.dependencies);
    if (!line_.dependencies.empty()) append(job.host_pass.words, dependency_target(input, object));
    if (line_.device_objects) append(job.host_pass.words, {"-fgpu-rdc", "-Xclang", linked_unit(unit)});
    append(job.host_pass.words, {"-Xclang", "-fcuda-include-gpubinary", "-Xclang", job.blob, "-c", input.path,
                                 "-o", job.host_object});

    if (makes_ptx()) {
      job.device.ptx = between(input.path, ".ptx");
      job.ptx_pass.words = ptx_pass(input, job.device.ptx);
    }
    job.device.bitcode = {job.bitcode};
    job.device.object = between(input.path, ".device.o");
    job.device.id = id;
    job.device.cpu = line_.march;
    job.device.linker = installation_.linker;
    job.device.debug = line_.debug;
    job.device.audit = line_.audit;
    if (line_.keep) job.device.print_ir = between(input.path, "");
    job.join.words = {installation_.linker, "-r", "-o", object, job.host_object, job.device.object};
    ++next_;
    jobs_.emplace_back(std::move(job));
  }

  Strings device_pass(const Input& input, const std::string& bitcode) const {
    Strings words = front_end(input);
    append(words, {"--cuda-device-only", "-fno-builtin-printf", "-O3", "-fno-math-errno",
                   "-gline-tables-only", line_.contract ? "-ffp-contract=fast" : "-ffp-contract=off"});
    if (line_.fast_math) append(words, {"-ffast-math", "-D__USE_FAST_MATH__=1"});
    if (line_.device_objects) words.emplace_back("-fgpu-rdc");
    append(words, {"-Xclang", "-disable-llvm-passes", "-emit-llvm", "-c", input.path, "-o", bitcode});
    return words;
  }

  /// Device code that is linked across files would need its PTX linked, too.
  bool makes_ptx() const { return line_.ptx && !installation_.nvcc.empty() && !line_.device_objects; }

  Strings ptx_pass(const Input& input, const std::string& to) const {
    Strings words{installation_.nvcc, "-ptx", "-x", "cu",
                  "-arch=" + oldest_architecture(line_.architectures)};
    append(words, {"--expt-relaxed-constexpr", "--extended-lambda", "-w"});
    if (line_.fast_math) words.emplace_back("-use_fast_math");
    words.emplace_back(line_.contract ? "-fmad=true" : "-fmad=false");
    if (line_.per_thread_stream) append(words, {"-default-stream", "per-thread"});
    for (const auto& option : line_.both) {
      if (option.compare(0, 5, "-std=") == 0) words.push_back(option);
    }
    append(words, line_.preprocessing);
    append(words, {input.path, "-o", to});
    return words;
  }

  /// Of the object that is asked for, not of what the host pass writes.
  Strings dependency_target(const Input& input, const std::string& object) const {
    Strings words;
    bool file = false;
    bool target = false;
    for (const auto& word : line_.dependencies) {
      file |= word == "-MF";
      target |= word == "-MT" || word == "-MQ";
    }
    const bool named = line_.goal == Goal::compile;
    if (!target) append(words, {"-MQ", object});
    if (!file)
      append(words,
             {"-MF", std::filesystem::path(named ? object : input.path).replace_extension(".d").string()});
    return words;
  }

  /// Tells images of one program apart: by what was compiled and where to.
  static std::string image_id(const std::string& source, const std::string& object) {
    const auto where = std::filesystem::absolute(source).lexically_normal().string() + "\n" +
                       std::filesystem::absolute(object).lexically_normal().string();
    return std::filesystem::path(source).stem().string() + "-" +
           std::to_string(std::hash<std::string>{}(where));
  }

  /// By it both passes name what is static in a file, which the device link makes known to all. (Clang's driver hands it on for devices only.)
  static std::string linked_unit(const std::string& id) {
    return "-cuid=" + std::to_string(std::hash<std::string>{}(id));
  }

  std::string in_output_folder(std::string file) const {
    if (!line_.output_folder.empty() && std::filesystem::path(file).is_relative())
      file = line_.output_folder + "/" + file;
    return file;
  }

  void plan_preprocessing() {
    for (const auto& input : line_.inputs) {
      if (!is_source(input)) continue;
      auto words = front_end(input);
      if (input.kind == Input::Kind::cuda) words.emplace_back("--cuda-host-only");
      append(words, line_.dependencies);
      if (line_.goal == Goal::preprocess) words.emplace_back("-E");
      words.push_back(input.path);
      if (!line_.output.empty()) append(words, {"-o", in_output_folder(line_.output)});
      jobs_.emplace_back(Command{std::move(words)});
    }
  }

  void plan_explanations() {
    for (const auto& input : line_.inputs) {
      if (input.kind != Input::Kind::cuda) continue;
      Explanation job;
      job.source = input.path;
      const auto bitcode = between(input.path, ".bc");
      job.device_pass.words = device_pass(input, bitcode);
      job.device.bitcode = {bitcode};
      job.device.cpu = line_.march;
      job.device.linker = installation_.linker;
      ++next_;
      jobs_.emplace_back(std::move(job));
    }
    if (jobs_.empty()) throw std::runtime_error("--explain: there is no CUDA source to explain");
  }

  void plan_compilation() {
    std::size_t sources = 0;
    for (const auto& input : line_.inputs) sources += is_source(input) ? 1 : 0;
    if (sources == 0) throw std::runtime_error("-c: there is no source file to compile");
    if (sources > 1 && !line_.output.empty())
      throw std::runtime_error("-o names one file, but -c writes one for each of several sources");
    for (const auto& input : line_.inputs) {
      if (!is_source(input)) continue;
      const auto object = std::filesystem::path(input.path).filename().replace_extension(".o").string();
      compile(input, in_output_folder(line_.output.empty() ? object : line_.output));
    }
  }

  /// Compiles what is source; returns all objects and libraries, in the order of the command line.
  Strings objects() {
    Strings all;
    for (const auto& input : line_.inputs) {
      if (is_source(input)) {
        const auto object = between(input.path, ".o");
        compile(input, object);
        ++next_;
        all.push_back(object);
      } else {
        all.push_back(input.path);
      }
    }
    return all;
  }

  void link_device(const Strings& from, const std::string& object, bool required) {
    DeviceLink job;
    job.from = from;
    job.object = object;
    job.required = required;
    job.device.object = object;
    job.device.cpu = line_.march;
    job.device.linker = installation_.linker;
    job.device.debug = line_.debug;
    job.device.audit = line_.audit;
    if (line_.keep) job.device.print_ir = temporary_ + "/device-link";
    jobs_.emplace_back(std::move(job));
  }

  void plan_device_link() {
    const auto from = objects();
    link_device(from, in_output_folder(line_.output.empty() ? "a_dlink.o" : line_.output), true);
  }

  void plan_library() {
    const auto members = objects();
    Strings words{installation_.archiver, "rcs",
                  in_output_folder(line_.output.empty() ? "a.a" : line_.output)};
    append(words, members);
    jobs_.emplace_back(Command{std::move(words)});
  }

  void plan_link() {
    const auto from = objects();
    const auto linked = temporary_ + "/device-link.o";
    Strings device_from = from;
    append(device_from, libraries());
    link_device(device_from, linked, false);
    Strings words{installation_.clang};
    append(words, {"-o", in_output_folder(line_.output.empty() ? "a.out" : line_.output)});
    if (!installation_.stand_in_folder.empty()) append(words, {"-L" + installation_.stand_in_folder});
    append(words, from);
    for (const auto& option : line_.host) {
      if (option == "-pg" || option == "-pthread" || option.compare(0, 8, "-fopenmp") == 0 ||
          option.compare(0, 11, "-fsanitize=") == 0) {
        words.push_back(option);
      }
      if (option.compare(0, 4, "-Wl,") == 0) words.push_back(option);
    }
    append(words, line_.linking);
    if (line_.with_runtime && !installation_.runtime_folder.empty()) {
      append(words, {"-L" + installation_.runtime_folder, "-Wl,-rpath," + installation_.runtime_folder,
                     "-lnuna_cudart"});
    }
    append(words, {"-lmvec", "-lm"});
    // The linker's line tells CMake what a C++ compiler needs that links objects of ours.
    if (line_.verbose) append(words, {"-v"});
    Strings told{installation_.self};
    append(told, from);
    append(told, {"-L" + installation_.runtime_folder});
    jobs_.emplace_back(HostLink{{std::move(words)}, {std::move(told)}, linked});
  }

  /// Static libraries that -l names in folders of -L: they may hold device code.
  Strings libraries() const {
    Strings found;
    for (const auto& option : line_.linking) {
      if (option.compare(0, 2, "-l") != 0) continue;
      for (const auto& folder : line_.linking) {
        if (folder.compare(0, 2, "-L") == 0)
          found.push_back(folder.substr(2) + "/lib" + option.substr(2) + ".a");
      }
    }
    return found;
  }

  const CommandLine& line_;
  const Installation& installation_;
  const std::string temporary_;
  std::vector<Job> jobs_;
  int next_ = 0;
};

}  // namespace

std::vector<Job> plan_jobs(const CommandLine& line, const Installation& installation,
                           const std::string& temporary) {
  return Planner(line, installation, temporary).plan();
}

}  // namespace nuna::compiler
