#include "common/output_files.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <thread>
#include <utility>

#include "nuna/error.hpp"

namespace apps {
namespace {

[[noreturn]] void fail_for(const std::string& path, const char* what, int error_number) {
  const char* remedy = error_number == ENOSPC || error_number == EDQUOT || error_number == EFBIG
                           ? "; free some space, or choose another place for the output"
                           : "; choose another place for the output";
  throw nuna::Error(nuna::ErrorCode::input_output, "cannot " + std::string(what) + " '" + path +
                                                       "': " + std::strerror(error_number) + remedy);
}

// The names of all temporary files of the process. Never destroyed: the thread that waits for signals uses it to the end.
struct Unfinished {
  std::mutex mutex;
  std::vector<std::string> names;

  static Unfinished& of_process() {
    static auto& only = *new Unfinished;
    return only;
  }
  void forget(const std::string& name) {
    names.erase(std::remove(names.begin(), names.end(), name), names.end());
  }
};

void remove_temporary(const std::string& name) {
  Unfinished& unfinished = Unfinished::of_process();
  const std::scoped_lock lock(unfinished.mutex);
  ::unlink(name.c_str());
  unfinished.forget(name);
}

struct Temporary {
  std::string name;
  std::FILE* file = nullptr;
};

// A rename would put a file in the place of a device or a pipe.
void require_regular(const std::string& path) {
  std::error_code unknown;
  const std::filesystem::file_status status = std::filesystem::status(path, unknown);
  if (std::filesystem::is_directory(status)) fail_for(path, "create", EISDIR);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw nuna::Error(nuna::ErrorCode::input_output,
                      "cannot write '" + path +
                          "': it is no file but a device or a pipe; choose another place for the output");
  }
}

Temporary create_beside(const std::string& path) {
  require_regular(path);
  Unfinished& unfinished = Unfinished::of_process();
  std::unique_lock lock(unfinished.mutex);
  const std::string first = path + ".part-" + std::to_string(::getpid());
  Temporary t{first, nullptr};
  int descriptor = -1;
  // A process of another node, or one that was killed, may have had the same number.
  constexpr int kTries = 1000;
  for (int n = 1; n <= kTries; ++n) {
    descriptor = ::open(t.name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0 || errno != EEXIST) break;
    t.name = first + "-" + std::to_string(n);
  }
  if (descriptor < 0) fail_for(path, "write", errno);
  unfinished.names.push_back(t.name);
  t.file = ::fdopen(descriptor, "wb");
  if (t.file != nullptr) return t;
  const int error_number = errno;
  ::close(descriptor);
  lock.unlock();
  remove_temporary(t.name);
  fail_for(path, "write", error_number);
}

}  // namespace

void FileWriter::write(const void* bytes, std::size_t count) {
  if (std::fwrite(bytes, 1, count, file_) != count) fail(errno);
}

void FileWriter::fail(int error_number) const { fail_for(name_, "write", error_number); }

OutputFiles::~OutputFiles() {
  for (const Pending& p : pending_) remove_temporary(p.temporary);
}

void OutputFiles::add(const std::string& path, const std::function<void(FileWriter&)>& fill) {
  Temporary t = create_beside(path);
  pending_.push_back({t.name, path});  // from here on the destructor removes it
  FileWriter writer(t.file, path);
  try {
    fill(writer);
    // Some file systems report a full disk only when the bytes go out.
    if (std::fflush(t.file) != 0 || ::fsync(::fileno(t.file)) != 0) writer.fail(errno);
  } catch (...) {
    std::fclose(t.file);
    remove_temporary(t.name);
    pending_.pop_back();
    throw;
  }
  if (std::fclose(t.file) != 0) writer.fail(errno);
}

void OutputFiles::commit() {
  Unfinished& unfinished = Unfinished::of_process();
  const std::scoped_lock lock(unfinished.mutex);
  while (!pending_.empty()) {
    const Pending& p = pending_.front();
    if (std::rename(p.temporary.c_str(), p.path.c_str()) != 0) fail_for(p.path, "create", errno);
    unfinished.forget(p.temporary);
    pending_.erase(pending_.begin());
  }
}

void OutputFiles::require_writable(const std::string& path) {
  const Temporary t = create_beside(path);
  std::fclose(t.file);
  remove_temporary(t.name);
}

void remove_unfinished_on_signals() {
  sigset_t awaited;
  sigemptyset(&awaited);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    struct sigaction now{};
    if (::sigaction(number, nullptr, &now) == 0 && now.sa_handler == SIG_DFL) sigaddset(&awaited, number);
  }
  pthread_sigmask(SIG_BLOCK, &awaited, nullptr);
  std::thread([awaited] {
    int number = 0;
    while (sigwait(&awaited, &number) != 0) {
    }
    Unfinished& unfinished = Unfinished::of_process();
    const std::scoped_lock lock(unfinished.mutex);
    for (const std::string& name : unfinished.names) ::unlink(name.c_str());
    pthread_sigmask(SIG_UNBLOCK, &awaited, nullptr);
    ::raise(number);  // which ends the process, before anyone gets the lock
  }).detach();
}

void finish_standard_output() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) fail_for("standard output", "write", errno);
}

}  // namespace apps
