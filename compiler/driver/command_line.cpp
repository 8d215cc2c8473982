#include "driver/command_line.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace nuna::compiler {

namespace {

using Strings = std::vector<std::string>;

bool starts_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

Strings split(const std::string& list, char separator) {
  Strings parts;
  std::string part;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i] == '\\' && i + 1 < list.size()) {
      part += list[++i];
    } else if (list[i] == separator) {
      parts.push_back(std::exchange(part, {}));
    } else {
      part += list[i];
    }
  }
  parts.push_back(part);
  parts.erase(std::remove(parts.begin(), parts.end(), std::string()), parts.end());
  return parts;
}

/// One option of nvcc's: its names, and what a use of it does. Options with a value take it behind '=', as the next argument, or,
/// those of one letter, right behind the letter.
struct Option {
  Strings names;
  bool takes_value = false;
  std::function<void(CommandLine&, const std::string& name, const std::string& value)> use;
};

using Target = Strings CommandLine::*;

Option flag(Strings names, std::function<void(CommandLine&)> use) {
  return {std::move(names), false,
          [use](CommandLine& line, const std::string&, const std::string&) { use(line); }};
}
Option value(Strings names, std::function<void(CommandLine&, const std::string&)> use) {
  return {std::move(names), true,
          [use](CommandLine& line, const std::string&, const std::string& v) { use(line, v); }};
}
/// Handed on as `as` and the value, in one word or in two.
Option handed_on(Strings names, Target to, const std::string& as, bool joined) {
  return value(std::move(names), [to, as, joined](CommandLine& line, const std::string& v) {
    for (const auto& part : split(v, ',')) {
      (line.*to).push_back(joined ? as + part : as);
      if (!joined) (line.*to).push_back(part);
    }
  });
}
/// What concerns GPUs, or nvcc's own files, only.
Option without_effect(Strings names, bool takes_value) {
  return {std::move(names), takes_value,
          [](CommandLine& line, const std::string& name, const std::string& v) {
            line.notes.push_back(name + (v.empty() ? "" : " " + v));
          }};
}

bool is_true(const std::string& name, const std::string& value) {
  if (value == "true" || value == "1") return true;
  if (value == "false" || value == "0") return false;
  throw std::runtime_error(name + "=" + value + ": expected true or false");
}

/// Of "sm_80", "arch=compute_80,code=[sm_80,compute_80]" and the like: each name that is followed by a number.
void add_architectures(CommandLine& line, const std::string& value) {
  static const std::regex part(R"re([^\[\],="' ]+)re");
  static const std::regex numbered("(sm|compute|lto)_[0-9]+[a-z]?");
  static const std::regex other("arch|code|native|all|all-major");
  for (std::sregex_iterator at(value.begin(), value.end(), part), end; at != end; ++at) {
    const std::string word = at->str();
    if (std::regex_match(word, numbered)) {
      if (word.front() != 'l') line.architectures.push_back(word);
    } else if (!std::regex_match(word, other)) {
      throw std::runtime_error("architecture " + word +
                               ": expected sm_80, compute_80 or the like, native, all or all-major");
    }
  }
}

bool embeds_ptx(const std::string& value) {
  if (value != "auto" && value != "off")
    throw std::runtime_error("--ptx=" + value + ": expected auto or off");
  return value == "auto";
}

/// ptxas would take them. Of these only -v asks for something that there is.
void read_assembler_options(CommandLine& line, const std::string& value) {
  for (const auto& part : split(value, ',')) {
    for (const auto& word : split(part, ' ')) {
      line.resources |= word == "-v" || word == "--verbose";
    }
  }
  line.notes.push_back("-Xptxas " + value);
}

void set_goal(CommandLine& line, Goal goal) { line.goal = goal; }

void set_language(std::string& language, const std::string& value) {
  if (value != "cu" && value != "c" && value != "c++" && value != "none") {
    throw std::runtime_error("-x " + value + ": expected cu, c++, c or none");
  }
  language = value;
}

std::vector<Option> make_options(std::string& language) {
  const std::string none;
  auto host = [](const char* as) { return [as](CommandLine& line) { line.host.emplace_back(as); }; };
  return {
      value({"-o", "--output-file"}, [](auto& l, const auto& v) { l.output = v; }),
      value({"-odir", "--output-directory"}, [](auto& l, const auto& v) { l.output_folder = v; }),
      value({"-x", "--x"}, [&language](auto&, const auto& v) { set_language(language, v); }),
      flag({"-c", "--compile"}, [](auto& l) { set_goal(l, Goal::compile); }),
      flag({"-dc", "--device-c"}, [](auto& l) { set_goal(l, Goal::compile), l.device_objects = true; }),
      flag({"-dw", "--device-w"}, [](auto& l) { set_goal(l, Goal::compile), l.device_objects = false; }),
      flag({"-dlink", "--device-link"},
           [](auto& l) { set_goal(l, Goal::device_link), l.device_objects = true; }),
      flag({"-link", "--link"}, [](auto& l) { set_goal(l, Goal::link); }),
      flag({"-lib", "--lib"}, [](auto& l) { set_goal(l, Goal::library); }),
      flag({"-E", "--preprocess"}, [](auto& l) { set_goal(l, Goal::preprocess); }),
      flag({"-M", "--generate-dependencies"},
           [](auto& l) { set_goal(l, Goal::dependencies), l.dependencies.emplace_back("-M"); }),
      flag({"-MM", "--generate-nonsystem-dependencies"},
           [](auto& l) { set_goal(l, Goal::dependencies), l.dependencies.emplace_back("-MM"); }),
      flag({"-MD", "--generate-dependencies-with-compile"},
           [](auto& l) { l.dependencies.emplace_back("-MD"); }),
      flag({"-MMD", "--generate-nonsystem-dependencies-with-compile"},
           [](auto& l) { l.dependencies.emplace_back("-MMD"); }),
      flag({"-MP", "--generate-dependency-targets"}, [](auto& l) { l.dependencies.emplace_back("-MP"); }),
      handed_on({"-MF", "--dependency-output"}, &CommandLine::dependencies, "-MF", false),
      handed_on({"-MT", "--dependency-target-name"}, &CommandLine::dependencies, "-MT", false),
      handed_on({"-MQ"}, &CommandLine::dependencies, "-MQ", false),
      flag({"-ptx", "--ptx"}, [](auto& l) { set_goal(l, Goal::ptx); }),
      value({"-rdc", "--relocatable-device-code"},
            [](auto& l, const auto& v) { l.device_objects = is_true("-rdc", v); }),
      handed_on({"-I", "--include-path"}, &CommandLine::preprocessing, "-I", true),
      handed_on({"-isystem", "--system-include"}, &CommandLine::preprocessing, "-isystem", false),
      handed_on({"-include", "--pre-include"}, &CommandLine::preprocessing, "-include", false),
      value({"-D", "--define-macro"}, [](auto& l, const auto& v) { l.preprocessing.push_back("-D" + v); }),
      handed_on({"-U", "--undefine-macro"}, &CommandLine::preprocessing, "-U", true),
      handed_on({"-L", "--library-path"}, &CommandLine::linking, "-L", true),
      // clang's OpenMP is libomp, which also answers for code that was compiled for libgomp
      value({"-l", "--library"},
            [](auto& l, const auto& v) {
              for (const auto& part : split(v, ','))
                l.linking.push_back("-l" + (part == "gomp" ? std::string("omp") : part));
            }),
      flag({"-shared", "--shared"}, [](auto& l) { l.linking.emplace_back("-shared"); }),
      value({"-Xlinker", "--linker-options"},
            [](auto& l, const auto& v) {
              for (const auto& part : split(v, ',')) l.linking.insert(l.linking.end(), {"-Xlinker", part});
            }),
      value({"-Xcompiler", "--compiler-options"},
            [](auto& l, const auto& v) {
              for (const auto& part : split(v, ',')) {  // each may be several, with blanks between
                for (auto& word : split(part, ' ')) {
                  if (!word.empty()) l.host.push_back(std::move(word));
                }
              }
            }),
      value({"-std", "--std"}, [](auto& l, const auto& v) { l.both.push_back("-std=" + v); }),
      value({"-O", "--optimize"},
            [](auto& l, const auto& v) { l.host.push_back("-O" + v), l.optimise = v != "0"; }),
      flag({"-g", "--debug"}, [](auto& l) { l.host.emplace_back("-g"), l.debug = true; }),
      flag({"-G", "--device-debug", "-lineinfo", "--generate-line-info"}, [](auto& l) { l.debug = true; }),
      flag({"-pg", "--profile"}, host("-pg")),
      flag({"-w", "--disable-warnings"}, [](auto& l) { l.both.emplace_back("-w"); }),
      value({"-Werror", "--Werror"},
            [](auto& l, const auto& v) {
              if (v == "all-warnings") l.both.emplace_back("-Werror");
            }),
      value({"-march"}, [](auto& l, const auto& v) { l.march = v, l.host.push_back("-march=" + v); }),
      flag({"-use_fast_math", "--use_fast_math"}, [](auto& l) { l.fast_math = l.contract = true; }),
      value({"-fmad", "--fmad"}, [](auto& l, const auto& v) { l.contract = is_true("-fmad", v); }),
      value({"-default-stream", "--default-stream"},
            [](auto& l, const auto& v) {
              if (v != "legacy" && v != "per-thread" && v != "null")
                throw std::runtime_error("--default-stream " + v + ": expected legacy or per-thread");
              l.per_thread_stream = v == "per-thread";
            }),
      value({"-cudart", "--cudart"},
            [](auto& l, const auto& v) {
              if (v != "none" && v != "shared" && v != "static" && v != "hybrid")
                throw std::runtime_error("--cudart " + v + ": expected none, shared or static");
              l.with_runtime = v != "none";
            }),
      flag({"-v", "--verbose"}, [](auto& l) { l.verbose = true; }),
      flag({"-res-usage", "--resource-usage"}, [](auto& l) { l.resources = true; }),
      flag({"-dryrun", "--dryrun"}, [](auto& l) { l.dry_run = true; }),
      flag({"-keep", "--keep", "-save-temps", "--save-temps"}, [](auto& l) { l.keep = true; }),
      value({"-keep-dir", "--keep-dir"}, [](auto& l, const auto& v) { l.keep_folder = v; }),
      flag({"-h", "-help", "--help"}, [](auto& l) { l.help = true; }),
      flag({"-V", "-version", "--version"}, [](auto& l) { l.version = true; }),
      value({"-arch", "--gpu-architecture"}, [](auto& l, const auto& v) { add_architectures(l, v); }),
      without_effect({"-code", "--gpu-code"}, true),
      value({"-gencode", "--generate-code"}, [](auto& l, const auto& v) { add_architectures(l, v); }),
      value({"--ptx"},
            [](auto& l, const auto& v) { l.ptx = embeds_ptx(v); }),  // with a value; without, a goal
      flag({"--audit"}, [](auto& l) { l.audit = true; }),
      flag({"--explain"}, [](auto& l) { set_goal(l, Goal::explain); }),
      value({"--model"}, [](auto& l, const auto& v) { l.model = v; }),
      value({"--cuda-path"}, [](auto& l, const auto& v) { l.cuda_path = v; }),
      without_effect({"-maxrregcount", "--maxrregcount"}, true),
      value({"-Xptxas", "--ptxas-options"}, [](auto& l, const auto& v) { read_assembler_options(l, v); }),
      without_effect({"-Xnvlink", "--nvlink-options"}, true),
      without_effect({"-Xcudafe", "--Xcudafe"}, true),
      without_effect({"-Xarchive", "--archive-options"}, true),
      without_effect({"-ccbin", "--compiler-bindir"}, true),
      without_effect({"-m", "--machine"}, true),
      without_effect({"-m64"}, false),
      without_effect({"-t", "--threads"}, true),
      without_effect({"-split-compile", "--split-compile"}, true),
      without_effect({"-ftz", "--ftz"}, true),
      without_effect({"-prec-div", "--prec-div"}, true),
      without_effect({"-prec-sqrt", "--prec-sqrt"}, true),
      without_effect(
          {"-diag-suppress", "--diag-suppress", "-diag-error", "--diag-error", "-diag-warn", "--diag-warn"},
          true),
      without_effect({"-restrict",
                      "--restrict",
                      "-expt-relaxed-constexpr",
                      "--expt-relaxed-constexpr",
                      "-expt-extended-lambda",
                      "--expt-extended-lambda",
                      "-extended-lambda",
                      "--extended-lambda",
                      "-src-in-ptx",
                      "--source-in-ptx",
                      "-nodebug",
                      "-ewp",
                      "--extensible-whole-program",
                      "-forward-unknown-to-host-compiler",
                      "--forward-unknown-to-host-compiler",
                      "-forward-unknown-to-host-linker",
                      "--forward-unknown-to-host-linker",
                      "-Wno-deprecated-gpu-targets",
                      "-Wreorder",
                      "-no-compress",
                      "--no-compress",
                      "-allow-unsupported-compiler",
                      "--allow-unsupported-compiler",
                      "-noprof",
                      "-dlto",
                      "--dlink-time-opt",
                      "--no-host-device-initializer-list",
                      "-nohdinitlist",
                      "--no-align-double"},
                     false),
  };
}

Input::Kind kind_of(const std::string& path, const std::string& language) {
  if (language == "cu") return Input::Kind::cuda;
  if (language == "c++") return Input::Kind::cxx;
  if (language == "c") return Input::Kind::c;
  const auto suffix = std::filesystem::path(path).extension().string();
  static const std::map<std::string, Input::Kind> kinds = {
      {".cu", Input::Kind::cuda},    {".cpp", Input::Kind::cxx},    {".cc", Input::Kind::cxx},
      {".cxx", Input::Kind::cxx},    {".C", Input::Kind::cxx},      {".c", Input::Kind::c},
      {".o", Input::Kind::object},   {".obj", Input::Kind::object}, {".a", Input::Kind::library},
      {".so", Input::Kind::library}, {".cup", Input::Kind::cuda}};
  const auto found = kinds.find(suffix);
  if (found != kinds.end()) return found->second;
  if (path.find(".so.") != std::string::npos) return Input::Kind::library;
  return Input::Kind::unknown;
}

/// @file and --options-file: arguments in a file, blanks between them, quotes around blanks.
Strings arguments_in(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + ": the file of options cannot be read");
  Strings words;
  std::string word;
  bool inside = false;
  char quote = 0;
  for (char c = 0; file.get(c);) {
    if (quote != 0 ? c == quote : c == '"' || c == '\'') {
      quote = quote != 0 ? '\0' : c;
      inside = true;
    } else if (quote == 0 && std::isspace(static_cast<unsigned char>(c)) != 0) {
      if (inside) words.push_back(std::exchange(word, {}));
      inside = false;
    } else {
      if (c == '\\' && !file.get(c)) break;
      word += c;
      inside = true;
    }
  }
  if (inside) words.push_back(word);
  return words;
}

Strings expanded(const Strings& arguments, int depth = 0) {
  if (depth > 10) throw std::runtime_error("files of options name each other in a circle");
  Strings all;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto& argument = arguments[i];
    std::string file;
    if (starts_with(argument, "@")) file = argument.substr(1);
    if ((argument == "-optf" || argument == "--options-file") && i + 1 < arguments.size())
      file = arguments[++i];
    if (file.empty()) {
      all.push_back(argument);
      continue;
    }
    for (const auto& part : split(file, ',')) {
      const auto more = expanded(arguments_in(part), depth + 1);
      all.insert(all.end(), more.begin(), more.end());
    }
  }
  return all;
}

class Reader {
 public:
  Reader() : options_(make_options(language_)) {}

  CommandLine read(const Strings& given) {
    const auto arguments = expanded(given);
    for (const auto& argument : arguments) {
      forwards_ |=
          argument == "-forward-unknown-to-host-compiler" || argument == "--forward-unknown-to-host-compiler";
    }
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const auto& argument = arguments[i];
      if (argument.size() < 2 || argument[0] != '-') {
        line_.inputs.push_back({argument, kind_of(argument, language_)});
      } else if (!use_option(argument, arguments, i)) {
        hand_on(argument);
      }
    }
    return line_;
  }

 private:
  bool use_option(const std::string& argument, const Strings& arguments, std::size_t& i) {
    const auto equals = argument.find('=');
    const auto name = argument.substr(0, equals);
    for (const auto& option : options_) {
      if (std::find(option.names.begin(), option.names.end(), name) == option.names.end()) continue;
      if (!option.takes_value) {
        if (equals != std::string::npos) continue;
        option.use(line_, name, "");
      } else if (equals != std::string::npos) {
        option.use(line_, name, argument.substr(equals + 1));
      } else {
        if (i + 1 >= arguments.size()) throw std::runtime_error(argument + ": a value is missing behind it");
        option.use(line_, name, arguments[++i]);
      }
      return true;
    }
    return use_joined(argument);
  }

  /// -Ipath, -DNAME=1, -O3, -lm, -MFfile.
  bool use_joined(const std::string& argument) {
    for (const std::size_t length : {std::size_t{3}, std::size_t{2}}) {
      if (argument.size() <= length) continue;
      const auto name = argument.substr(0, length);
      static const std::array<std::string_view, 10> joined = {"-MF", "-MT", "-MQ", "-I", "-D",
                                                              "-U",  "-L",  "-l",  "-O", "-o"};
      if (std::find(joined.begin(), joined.end(), name) == joined.end()) continue;
      for (const auto& option : options_) {
        if (std::find(option.names.begin(), option.names.end(), name) == option.names.end()) continue;
        option.use(line_, name, argument.substr(length));
        return true;
      }
    }
    return false;
  }

  /// The host's compiler is clang: what looks like an option of its is handed on.
  void hand_on(const std::string& argument) {
    if (starts_with(argument, "-W")) {
      (starts_with(argument, "-Wl,") ? line_.linking : line_.both).push_back(argument);
    } else if (starts_with(argument, "-f") || starts_with(argument, "-m") || argument == "-pthread" ||
               argument == "-pedantic") {
      line_.host.push_back(argument);
    } else if (argument == "-static" || argument == "-rdynamic" || argument == "-s" ||
               argument == "-no-pie" || argument == "-pie") {
      line_.linking.push_back(argument);
    } else if (forwards_) {
      line_.host.push_back(argument);
    } else {
      throw std::runtime_error(argument + ": there is no such option (nunacc --help lists them)");
    }
  }

  std::string language_;
  bool forwards_ = false;  ///< what nobody knows is for the host's compiler
  std::vector<Option> options_;
  CommandLine line_;
};

}  // namespace

CommandLine read_command_line(const Strings& arguments) { return Reader().read(arguments); }

std::string help_text() {
  return R"(nunacc compiles CUDA programs for CPU cores. It takes nvcc's command line:

  nunacc [options] file...      .cu, .cpp, .c, .o, .a

  -o FILE                what is written               -c                 compile, do not link
  -I, -D, -U, -include   as any compiler               -std=c++17, -O3, -g
  -x cu|c++|c            the language of what follows  -E, -M, -MM, -MD, -MMD, -MF, -MT, -MP
  -l, -L, -shared        for the link                  -Xcompiler, -Xlinker A,B
  -rdc=true, -dc         device code across files      -dlink, -lib
  -march=CPU             the CPU of device code (native)
  -fmad=true             contract a*b+c; off, so that all machines compute the same bits
  -use_fast_math         cheaper maths                 -default-stream per-thread
  -cudart none           do not link libnuna_cudart    -arch, -gencode: of the PTX, and else without effect
  --ptx=off              no PTX in objects (auto: where nvcc is found)
  --explain              what each kernel reads and writes, and along which axes its grid may be split; nothing is compiled
  --model FILE           the same for programs, as JSON; with --explain, or besides compiling
  --audit                kernels tell what they touch: with NUNA_AUDIT=1 it is checked against what nunacc says of them, with
                         NUNA_PROFILE=1 kernels of which nunacc cannot say it are split by what they touched before; slow
  --cuda-path DIR        the toolkit whose nvcc makes PTX; else CUDA_HOME, CUDA_PATH, or PATH
  -v, --dryrun, --keep   show the commands, do not run them, keep what lies between
  -Xptxas -v             what each kernel needs of memory
  --version, --help
)";
}

}  // namespace nuna::compiler
