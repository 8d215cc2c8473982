// Files of ranks that are not the first (ranks.hpp). The program's calls of the C library come here, because its executable finds the
// names in this library first; those of other libraries (MPI's own files) pass through.

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>

#include "ranks.hpp"

namespace nuna::cudart {

namespace fs = std::filesystem;

namespace {

/// While one lives, what its thread opens and removes by the C++ library is what it says.
class AsItIs {
 public:
  AsItIs() noexcept { ++depth; }
  ~AsItIs() { --depth; }
  AsItIs(const AsItIs&) = delete;
  AsItIs& operator=(const AsItIs&) = delete;
  static bool here() noexcept { return depth > 0; }

 private:
  static thread_local int depth;
};
thread_local int AsItIs::depth = 0;

}  // namespace

struct Overlay::State {
  std::mutex mutex;
  fs::path folder;
  std::map<std::string, fs::path> own;  // absolute path -> this rank's
};

Overlay::Overlay() : state_(new State) {}

Overlay::~Overlay() {
  const AsItIs as_it_is;
  std::error_code ignored;
  if (!state_->folder.empty()) fs::remove_all(state_->folder, ignored);
  delete state_;
}

Overlay& Overlay::of_process() {
  static Overlay only;
  return only;
}

namespace {

std::string absolute(const char* path) {
  std::error_code problem;
  const fs::path whole = fs::weakly_canonical(fs::absolute(path, problem), problem);
  return problem ? std::string(path) : whole.string();
}

bool is_special(const std::string& path) {
  std::error_code problem;
  const auto status = fs::status(path, problem);
  return fs::exists(status) && !fs::is_regular_file(status);
}

}  // namespace

bool Overlay::find(const char* path, std::string& own) {
  const AsItIs as_it_is;
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->own.find(absolute(path));
  if (found == state_->own.end()) return false;
  own = found->second.string();
  return true;
}

std::string Overlay::path_for(const char* path, bool writes, bool truncates) {
  const AsItIs as_it_is;
  std::string own;
  if (find(path, own) || !writes) return own.empty() ? path : own;
  const std::string whole = absolute(path);
  std::error_code problem;
  // Where the first rank cannot write, this one must not either.
  if (is_special(whole) || ::access(fs::path(whole).parent_path().c_str(), W_OK) != 0) return path;
  const std::lock_guard lock(state_->mutex);
  if (!make_folder()) return path;
  const fs::path mine = state_->folder / std::to_string(state_->own.size());
  if (!truncates && fs::exists(whole, problem)) fs::copy_file(whole, mine, problem);
  state_->own[whole] = mine;
  return mine.string();
}

bool Overlay::make_folder() {
  if (!state_->folder.empty()) return true;
  std::error_code problem;
  std::string made = (fs::temp_directory_path(problem) / "nuna-rank-XXXXXX").string();
  if (::mkdtemp(made.data()) == nullptr) return false;
  state_->folder = made;
  return true;
}

void Overlay::drop(const char* path) {
  const AsItIs as_it_is;
  const std::lock_guard lock(state_->mutex);
  const std::string whole = absolute(path);
  auto found = state_->own.find(whole);
  if (found == state_->own.end()) {
    if (!make_folder()) return;
    found = state_->own.emplace(whole, state_->folder / std::to_string(state_->own.size())).first;
  }
  std::error_code ignored;
  fs::remove(found->second, ignored);  // and stays this rank's, as a file that is not there
}

namespace {

/// Whether the code at `caller` is the program's, or the C++ library's on its behalf.
bool is_program(const void* caller) {
  Dl_info info{};
  if (dladdr(caller, &info) == 0 || info.dli_fname == nullptr) return false;
  static const void* const program = [] {
    Dl_info main_info{};
    void* const main = dlsym(RTLD_DEFAULT, "main");
    if (main != nullptr && dladdr(main, &main_info) != 0)
      return static_cast<const void*>(main_info.dli_fbase);
    return static_cast<const void*>(nullptr);
  }();
  if (info.dli_fbase == program) return true;
  char self[4096];
  const ssize_t length = ::readlink("/proc/self/exe", self, sizeof self - 1);
  if (length > 0) {
    self[length] = '\0';
    std::error_code ignored;
    if (fs::equivalent(info.dli_fname, self, ignored)) return true;
  }
  return std::strstr(info.dli_fname, "libstdc++") != nullptr;
}

bool goes_elsewhere(const char* path, const void* caller) {
  return path != nullptr && !Ranks::here().first() && !AsItIs::here() && is_program(caller);
}

template <class Function>
Function* next(Function*, const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

std::FILE* open_stream(const char* name, const char* path, const char* mode, const void* caller) {
  static auto* const plain = next(&std::fopen, "fopen");
  static auto* const large = next(&std::fopen, "fopen64");
  auto* const real = std::strcmp(name, "fopen64") == 0 ? large : plain;
  if (mode == nullptr || !goes_elsewhere(path, caller)) return real(path, mode);
  const bool writes = std::strpbrk(mode, "wa+") != nullptr;
  return real(Overlay::of_process().path_for(path, writes, mode[0] == 'w').c_str(), mode);
}

int open_file(const char* name, const char* path, int flags, mode_t mode, const void* caller) {
  using Open = int(const char*, int, ...);
  static auto* const plain = reinterpret_cast<Open*>(dlsym(RTLD_NEXT, "open"));
  static auto* const large = reinterpret_cast<Open*>(dlsym(RTLD_NEXT, "open64"));
  auto* const real = std::strcmp(name, "open64") == 0 ? large : plain;
  if (!goes_elsewhere(path, caller)) return real(path, flags, mode);
  const bool writes = (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC)) != 0;
  return real(Overlay::of_process().path_for(path, writes, (flags & O_TRUNC) != 0).c_str(), flags, mode);
}

mode_t mode_of(int flags, va_list rest) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? static_cast<mode_t>(va_arg(rest, int)) : mode_t{0};
}

/// Of files that are the first rank's: done already, or soon.
int remove_file(const char* name, const char* path, const void* caller) {
  static auto* const unlinks = next(&::unlink, "unlink");
  static auto* const removes = next(&::remove, "remove");
  if (!goes_elsewhere(path, caller)) return (std::strcmp(name, "unlink") == 0 ? unlinks : removes)(path);
  Overlay::of_process().drop(path);
  return 0;
}

}  // namespace
}  // namespace nuna::cudart

// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): the C library's names
extern "C" {

std::FILE* fopen(const char* path, const char* mode) {
  return nuna::cudart::open_stream("fopen", path, mode, __builtin_return_address(0));
}
std::FILE* fopen64(const char* path, const char* mode) {
  return nuna::cudart::open_stream("fopen64", path, mode, __builtin_return_address(0));
}
int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = nuna::cudart::mode_of(flags, rest);
  va_end(rest);
  return nuna::cudart::open_file("open", path, flags, mode, __builtin_return_address(0));
}
int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = nuna::cudart::mode_of(flags, rest);
  va_end(rest);
  return nuna::cudart::open_file("open64", path, flags, mode, __builtin_return_address(0));
}
int creat(const char* path, mode_t mode) {
  return nuna::cudart::open_file("open", path, O_CREAT | O_WRONLY | O_TRUNC, mode,
                                 __builtin_return_address(0));
}
int unlink(const char* path) noexcept {
  return nuna::cudart::remove_file("unlink", path, __builtin_return_address(0));
}
int remove(const char* path) noexcept {
  return nuna::cudart::remove_file("remove", path, __builtin_return_address(0));
}
}
// NOLINTEND(readability-inconsistent-declaration-parameter-name)
