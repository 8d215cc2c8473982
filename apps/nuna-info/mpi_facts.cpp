#include "nuna-info/mpi_facts.hpp"

#include <cstdlib>

#ifdef NUNA_WITH_MPI
#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include "cluster/mpi/session.hpp"
#endif

namespace nuna_info {
namespace {

#ifdef NUNA_WITH_MPI

std::string version_text() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  if (MPI_Get_library_version(text, &length) != MPI_SUCCESS) return {};
  return text;  // the length of some libraries counts the zero at the end
}

std::string standard() {
  int version = 0;
  int subversion = 0;
  if (MPI_Get_version(&version, &subversion) != MPI_SUCCESS) return {};
  return std::to_string(version) + "." + std::to_string(subversion);
}

std::string level_name(int level) {
  if (level == MPI_THREAD_SINGLE) return "single";
  if (level == MPI_THREAD_FUNNELED) return "funneled";
  if (level == MPI_THREAD_SERIALIZED) return "serialized";
  return level == MPI_THREAD_MULTIPLE ? "multiple" : "unknown";
}

Answer cuda_compiled() {
#if !defined(MPIX_CUDA_AWARE_SUPPORT)
  return Answer::unknown;
#elif MPIX_CUDA_AWARE_SUPPORT
  return Answer::yes;
#else
  return Answer::no;
#endif
}

Answer cuda_running() {
#if defined(MPIX_CUDA_AWARE_SUPPORT)
  return MPIX_Query_cuda_support() != 0 ? Answer::yes : Answer::no;
#else
  return Answer::unknown;
#endif
}

bool has_variable(const std::string& name) {
  int index = 0;
  return MPI_T_cvar_get_index(name.c_str(), &index) == MPI_SUCCESS;
}

// Open MPI closes the components that it does not use, and with them go their variables.
std::string loaded(const char* framework, std::initializer_list<const char*> components,
                   const char* variable) {
  std::string names;
  for (const char* component : components) {
    if (!has_variable(std::string(framework) + "_" + component + "_" + variable)) continue;
    names += (names.empty() ? "" : ", ") + std::string(component);
  }
  return names.empty() ? "" : std::string(framework) + " " + names;
}

std::string loaded_transport() {
  int level = 0;
  if (MPI_T_init_thread(MPI_THREAD_SINGLE, &level) != MPI_SUCCESS) return {};
  std::string words = loaded("pml", {"ob1", "ucx", "cm"}, "priority");
  const std::string btls =
      loaded("btl", {"self", "sm", "vader", "smcuda", "tcp", "openib", "ofi", "uct", "usnic"}, "exclusivity");
  // Another pml than ob1 does not use the btls for messages.
  if (words == "pml ob1" && !btls.empty()) words += "; " + btls;
  MPI_T_finalize();
  return words.empty() ? "" : words + " (the components that are loaded)";
}

void read_started(MpiFacts& facts) {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  facts.thread_level = level_name(level);
  MPI_Comm_size(MPI_COMM_WORLD, &facts.ranks);
  if (const std::string words = loaded_transport(); !words.empty()) facts.transport = words;
}

#endif

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

Json plain(Answer answer) { return answer == Answer::unknown ? Json(nullptr) : Json(answer == Answer::yes); }

std::string cuda_words(const MpiFacts& facts) {
  return std::string("compiled in: ") + to_string(facts.cuda_compiled) +
         ", at run time: " + to_string(facts.cuda_running);
}

std::string cuda_advice(const MpiFacts& facts) {
  if (facts.cuda_compiled == Answer::yes && facts.cuda_running == Answer::no) {
    return "MPI was compiled for CUDA and says no now: MPI must be initialised, and find the CUDA driver, "
           "when it is "
           "asked (Open MPI issue 13130); without that, pointers to a GPU's memory may end the process";
  }
  if (facts.cuda_compiled == Answer::no && facts.cuda_running == Answer::yes)
    return "the library that runs is not the one that Nuna was compiled with; compile Nuna with the one that "
           "runs";
  return {};
}

Fact named(const char* key, const char* name, const std::string& words) {
  return {key, name, words.empty() ? Json(nullptr) : Json(words), words.empty() ? "unknown" : words, ""};
}

}  // namespace

const char* to_string(Answer answer) {
  if (answer == Answer::unknown) return "unknown";
  return answer == Answer::yes ? "yes" : "no";
}

std::string implementation_name(const std::string& version) {
  for (const char* name : {"Open MPI", "MVAPICH", "Intel(R) MPI", "Cray MPICH", "MPICH", "Spectrum MPI"}) {
    if (version.find(name) != std::string::npos) return name;
  }
  return {};
}

std::string transport_hint(const std::string& version,
                           const std::function<const char*(const char*)>& variable) {
  // MPICH and its descendants tell their device: "MPICH Device:    ch4:ofi".
  constexpr const char* kDevice = "Device:";
  if (const std::size_t at = version.find(kDevice); at != std::string::npos) {
    const std::string rest = first_line(version.substr(at + std::char_traits<char>::length(kDevice)));
    const std::size_t first = rest.find_first_not_of(" \t");
    if (first != std::string::npos) return "device " + rest.substr(first) + " (as built)";
  }
  std::string words;
  for (const char* framework : {"pml", "btl", "mtl"}) {
    const char* value = variable((std::string("OMPI_MCA_") + framework).c_str());
    if (value == nullptr || *value == '\0') continue;
    words += (words.empty() ? "" : "; ") + std::string(framework) + " " + value;
  }
  return words.empty() ? "" : words + " (asked for by the environment)";
}

MpiFacts read_mpi_facts() {
  MpiFacts facts;
#ifdef NUNA_WITH_MPI
  facts.built_in = true;
  const std::string version = version_text();
  facts.version = first_line(version);
  facts.implementation = implementation_name(version);
  facts.standard = standard();
  facts.launched = nuna::cluster::mpi::launched();
  facts.initialised = nuna::cluster::mpi::usable();
  facts.cuda_compiled = cuda_compiled();
  facts.transport =
      transport_hint(version, [](const char* name) -> const char* { return std::getenv(name); });
  if (facts.initialised) {
    read_started(facts);
    facts.cuda_running = cuda_running();
  }
#endif
  return facts;
}

Section describe(const MpiFacts& facts) {
  Section section{"mpi", "MPI", {}};
  section.facts.push_back({"built_in", "built into Nuna", facts.built_in, facts.built_in ? "yes" : "no", ""});
  if (!facts.built_in) {
    section.facts.back().advice = "configure Nuna with -DNUNA_MPI=ON for ranks on several processes or nodes";
    return section;
  }
  section.facts.push_back(named("library", "library", facts.implementation));
  section.facts.push_back(named("version", "version", facts.version));
  section.facts.push_back(named("standard", "standard", facts.standard));
  section.facts.push_back(
      {"launched", "started by a launcher", facts.launched, facts.launched ? "yes" : "no", ""});
  section.facts.push_back({"ranks", "ranks", facts.ranks, std::to_string(facts.ranks), ""});
  Fact level = named("thread_level", "thread level", facts.thread_level);
  if (!facts.initialised)
    level.words = "not known before MPI is initialised, which needs a launcher (mpirun)";
  if (facts.initialised && facts.thread_level != "multiple") {
    level.advice =
        "use an MPI that gives MPI_THREAD_MULTIPLE: with less, messages move only while the program is "
        "inside a call "
        "of Nuna";
  }
  section.facts.push_back(level);
  section.facts.push_back(
      {"cuda_compiled", "CUDA-aware", plain(facts.cuda_compiled), cuda_words(facts), cuda_advice(facts)});
  section.facts.push_back(
      {"cuda_running", "CUDA-aware now", plain(facts.cuda_running), to_string(facts.cuda_running), ""});
  section.facts.push_back(named("transport", "transport", facts.transport));
  return section;
}

}  // namespace nuna_info
