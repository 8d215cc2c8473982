#include "launcher_words.hpp"

#ifdef NUNA_PMIX

#include <dlfcn.h>
#include <pmix.h>

#include <cstdlib>
#include <cstring>
#include <thread>

namespace nuna::cudart {

// Opened when it is needed: most programs run on one node.
struct LauncherWords::Library {
  decltype(&PMIx_Init) init = nullptr;
  decltype(&PMIx_Put) put = nullptr;
  decltype(&PMIx_Commit) commit = nullptr;
  decltype(&PMIx_Get) get = nullptr;
  decltype(&PMIx_Finalize) finalize = nullptr;
  pmix_proc_t self{};

  bool open() {
    void* const file = ::dlopen("libpmix.so.2", RTLD_NOW | RTLD_LOCAL);
    return file != nullptr && find(file, "PMIx_Init", init) && find(file, "PMIx_Put", put) &&
           find(file, "PMIx_Commit", commit) && find(file, "PMIx_Get", get) &&
           find(file, "PMIx_Finalize", finalize);
  }

 private:
  template <class Call>
  static bool find(void* file, const char* name, Call& call) {
    call = reinterpret_cast<Call>(::dlsym(file, name));
    return call != nullptr;
  }
};

namespace {

/// Whether this process was started by one that has joined `job` in its place.
bool is_taken(const char* job) {
  constexpr const char* kJoined = "_NUNA_JOINED_JOB";  // no setting
  const char* const joined = std::getenv(kJoined);
  if (joined != nullptr && std::strcmp(joined, job) == 0) return true;
  ::setenv(kJoined, job, 1);
  return false;
}

}  // namespace

LauncherWords* LauncherWords::join() {
  static Library library;
  const char* const job = std::getenv("PMIX_NAMESPACE");
  if (job == nullptr || is_taken(job) || !library.open() ||
      library.init(&library.self, nullptr, 0) != PMIX_SUCCESS)
    return nullptr;
  std::atexit([] { library.finalize(nullptr, 0); });
  static LauncherWords words(library);
  return &words;
}

bool LauncherWords::leave(const char* name, const std::string& word) {
  std::string text = word;
  pmix_value_t value{};
  value.type = PMIX_STRING;
  value.data.string = text.data();
  return library_.put(PMIX_GLOBAL, name, &value) == PMIX_SUCCESS && library_.commit() == PMIX_SUCCESS;
}

std::optional<std::string> LauncherWords::find(int rank, const char* name, std::chrono::seconds longest) {
  pmix_proc_t owner = library_.self;
  owner.rank = static_cast<pmix_rank_t>(rank);
  const auto end = std::chrono::steady_clock::now() + longest;
  do {
    pmix_value_t* value = nullptr;
    // Waits some seconds for who has left nothing yet.
    if (library_.get(&owner, name, nullptr, 0, &value) == PMIX_SUCCESS && value != nullptr) {
      std::optional<std::string> word;
      if (value->type == PMIX_STRING && value->data.string != nullptr) word = value->data.string;
      if (value->type == PMIX_STRING) std::free(value->data.string);
      std::free(value);
      return word;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  } while (std::chrono::steady_clock::now() < end);
  return std::nullopt;
}

#else

namespace nuna::cudart {

struct LauncherWords::Library {};
LauncherWords* LauncherWords::join() { return nullptr; }
bool LauncherWords::leave(const char*, const std::string&) { return false; }
std::optional<std::string> LauncherWords::find(int, const char*, std::chrono::seconds) {
  return std::nullopt;
}

#endif

LauncherWords* LauncherWords::of_process() {
  static LauncherWords* const only = join();
  return only;
}

}  // namespace nuna::cudart
