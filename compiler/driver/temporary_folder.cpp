#include "driver/temporary_folder.hpp"

#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <thread>

namespace nuna::compiler {
namespace {

/// Children that write there may still be at work.
void remove(const std::string& path) {
  constexpr int kTries = 10;
  for (int tried = 0; tried < kTries; ++tried) {
    std::error_code problem;
    std::filesystem::remove_all(path, problem);
    if (!problem) return;
    ::usleep(20'000);
  }
}

/// Removes the folder when one of these signals comes, and then lets it do what it does by default.
void remove_when_ended(const std::string& path) {
  sigset_t ends;
  sigemptyset(&ends);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now{};
    sigaction(signal, nullptr, &now);
    if (now.sa_handler == SIG_DFL) sigaddset(&ends, signal);  // nohup: what is ignored stays so
  }
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  std::thread([ends, path] {
    int signal = 0;
    if (sigwait(&ends, &signal) != 0) return;
    remove(path);
    pthread_sigmask(SIG_UNBLOCK, &ends, nullptr);
    ::kill(::getpid(), signal);
  }).detach();
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  const char* base = std::getenv("TMPDIR");
  path_ = std::string(base != nullptr && *base != '\0' ? base : "/tmp") + "/nunacc-XXXXXX";
  if (mkdtemp(path_.data()) == nullptr)
    throw std::runtime_error(path_ + ": no temporary folder can be made here (TMPDIR)");
  remove_when_ended(path_);
}

TemporaryFolder::~TemporaryFolder() { remove(path_); }

}  // namespace nuna::compiler
