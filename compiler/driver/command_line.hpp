#pragma once
// nvcc's command line. Pure.

#include <string>
#include <vector>

namespace nuna::compiler {

enum class Goal { link, compile, preprocess, dependencies, device_link, library, ptx, explain };

struct Input {
  enum class Kind { cuda, cxx, c, object, library, unknown };
  std::string path;
  Kind kind = Kind::object;
};

struct CommandLine {
  Goal goal = Goal::link;
  std::vector<Input> inputs;
  std::string output;
  std::string output_folder;    ///< of --output-directory
  bool device_objects = false;  ///< -rdc=true, -dc: device code is linked across files
  bool debug = false;           ///< -g, -G, -lineinfo
  bool optimise = true;         ///< the host's code
  bool verbose = false;         ///< -v
  bool resources = false;       ///< -Xptxas -v: what kernels need is told
  bool dry_run = false;         ///< --dryrun: the commands are printed, not run
  bool keep = false;            ///< --keep: files in between stay
  std::string keep_folder;
  bool audit = false;      ///< --audit: device code tells what it touches
  bool fast_math = false;  ///< -use_fast_math
  bool contract = false;   ///< -fmad=true: a*b+c in one rounding, as nvcc does by default and we do not
  bool per_thread_stream = false;          ///< -default-stream per-thread
  bool with_runtime = true;                ///< -cudart none: libnuna_cudart is not linked
  std::string march = "native";            ///< of the device code
  std::vector<std::string> architectures;  ///< of GPUs: what -arch and -gencode name, "sm_80" and the like
  bool ptx = true;                         ///< PTX is embedded where there is an nvcc
  std::string cuda_path;  ///< of the toolkit whose nvcc that is; "" for the first that is found
  std::vector<std::string> preprocessing;  ///< -I, -D, -U, -include, -isystem
  std::vector<std::string> dependencies;   ///< -MD and its like
  std::vector<std::string> both;           ///< for both passes: -std, warnings
  std::vector<std::string> host;           ///< for the host pass alone: -O, -g, what -Xcompiler says
  std::vector<std::string> linking;        ///< -L, -l, -shared, -Xlinker
  std::vector<std::string> notes;          ///< accepted without effect, worth a word with -v
  std::string model;                       ///< a file for what kernels touch, as JSON; "" for none
  bool help = false;
  bool version = false;
};

/// Reads the arguments behind the program's name. Throws std::runtime_error, one line that names the argument.
CommandLine read_command_line(const std::vector<std::string>& arguments);

/// What --help prints.
std::string help_text();

}  // namespace nuna::compiler
