#include "host_thread.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <new>

#include "ranks.hpp"

namespace nuna::cudart {
namespace {

thread_local HostThread this_thread;
thread_local int library_depth = 0;
std::atomic<bool> has_made{false};

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  std::uint64_t h = (a ^ (b + 0x9e3779b97f4a7c15U + (a << 6U) + (a >> 2U))) * 0xbf58476d1ce4e5b9U;
  h ^= h >> 31U;
  return h * 0x94d049bb133111ebU;
}

// Of paths and places, which must not meet.
enum Family : std::uint64_t { kOfThreads = 2, kOfCallbacks, kOfStrangers, kOfCalls };

}  // namespace

HostThread& HostThread::here() noexcept {
  if (this_thread.path_ != 0) return this_thread;
  if (::gettid() == ::getpid()) {
    this_thread.path_ = kMain;
    std::snprintf(this_thread.name_.data(), this_thread.name_.size(), "main thread");
    return this_thread;
  }
  static std::atomic<std::uint64_t> strangers{0};
  const std::uint64_t number = strangers.fetch_add(1) + 1;
  this_thread.path_ = mixed(kOfStrangers, number);
  std::snprintf(this_thread.name_.data(), this_thread.name_.size(), "thread x%llu",
                static_cast<unsigned long long>(number));
  return this_thread;
}

bool HostThread::any_made() noexcept { return has_made.load(); }

std::uint64_t HostThread::next_place() noexcept { return mixed(mixed(path_, kOfCalls), ++calls_); }

HostThread HostThread::child() noexcept {
  HostThread made;
  const auto number = static_cast<unsigned long long>(++children_);
  made.path_ = mixed(mixed(path_, kOfThreads), number);
  if (is_main()) {
    std::snprintf(made.name_.data(), made.name_.size(), "thread %llu", number);
  } else {
    std::snprintf(made.name_.data(), made.name_.size(), "%.40s.%llu", name_.data(), number);
  }
  return made;
}

HostThread HostThread::of_callback(std::uint64_t number) noexcept {
  HostThread made;
  made.path_ = mixed(kOfCallbacks, number);
  std::snprintf(made.name_.data(), made.name_.size(), "thread c%llu",
                static_cast<unsigned long long>(number));
  return made;
}

InLibrary::InLibrary() noexcept { ++library_depth; }
InLibrary::~InLibrary() { --library_depth; }

// Callbacks are run by the lane's leader, one after the other.
InCallback::InCallback() noexcept : before_(this_thread), depth_(library_depth) {
  static std::atomic<std::uint64_t> callbacks{0};
  this_thread = HostThread::of_callback(callbacks.fetch_add(1) + 1);
  library_depth = 0;
}
InCallback::~InCallback() {
  this_thread = before_;
  library_depth = depth_;
}

/// What a thread of the program begins with.
struct ThreadStart {
  void* (*function)(void*);
  void* argument;
  HostThread thread;

  static void* run(void* self) {
    const std::unique_ptr<ThreadStart> start(static_cast<ThreadStart*>(self));
    this_thread = start->thread;
    return call(start->function, start->argument);
  }
  static void* call(void* (*function)(void*), void* argument) { return function(argument); }
};

namespace {

int make_thread(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*),
                void* argument) {
  static auto* const real = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  if (library_depth > 0 || Ranks::here().ranks == 1) return real(thread, attributes, function, argument);
  has_made.store(true);
  auto start = std::unique_ptr<ThreadStart>(new (std::nothrow)
                                                ThreadStart{function, argument, HostThread::here().child()});
  if (start == nullptr) return EAGAIN;
  const int error = real(thread, attributes, &ThreadStart::run, start.get());
  if (error == 0) static_cast<void>(start.release());  // the thread's
  return error;
}

}  // namespace
}  // namespace nuna::cudart

// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): the C library's names
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*),
                              void* argument) noexcept {
  return nuna::cudart::make_thread(thread, attributes, function, argument);
}
// NOLINTEND(readability-inconsistent-declaration-parameter-name)
