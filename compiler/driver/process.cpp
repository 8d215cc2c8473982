#include "driver/process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>
#include <stdexcept>

extern char** environ;

namespace nuna::compiler {

Process::Process(const std::vector<std::string>& words, bool collect) {
  std::array<int, 2> ends{-1, -1};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (collect) {
    if (pipe2(ends.data(), O_CLOEXEC) != 0)
      throw std::runtime_error(std::string("no pipe: ") + std::strerror(errno));
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  }
  std::vector<char*> arguments;
  for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  // Signals that this process leaves to a thread end its children at once.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  const int problem = posix_spawnp(&process_, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (collect) close(ends[1]);
  error_ = ends[0];
  if (problem != 0) {
    if (collect) close(ends[0]);
    process_ = -1;
    throw std::runtime_error(
        words[0] + " cannot be started: " + std::strerror(problem) +
        (problem == ENOENT ? " (nunacc needs clang 19: on Debian, the package clang-19)" : ""));
  }
}

Process::~Process() {
  if (process_ != -1) wait();
}

void Process::stop() const {
  if (process_ > 0) kill(process_, SIGTERM);
}

Finished Process::wait() {
  Finished finished;
  if (error_ != -1) {
    std::array<char, 4096> part{};
    ssize_t bytes = 0;
    while ((bytes = read(error_, part.data(), part.size())) > 0 || (bytes < 0 && errno == EINTR)) {
      if (bytes > 0) finished.error.append(part.data(), static_cast<std::size_t>(bytes));
    }
    close(error_);
    error_ = -1;
  }
  int status = 0;
  while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
  finished.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return finished;
}

std::string quoted(const std::vector<std::string>& words) {
  std::string all;
  for (const auto& word : words) {
    if (!all.empty()) all += ' ';
    const bool plain =
        !word.empty() && word.find_first_of(" \t\n\"'\\$`*?[](){}<>|&;#~!") == std::string::npos;
    if (plain) {
      all += word;
      continue;
    }
    all += '\'';
    for (const char c : word) {
      if (c == '\'') {
        all += "'\\''";
      } else {
        all += c;
      }
    }
    all += '\'';
  }
  return all;
}

}  // namespace nuna::compiler
