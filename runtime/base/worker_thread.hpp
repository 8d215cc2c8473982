#pragma once
// Starts threads that stay out of the program's way: named for debuggers, and deaf to the program's signals.

#include <functional>
#include <string>
#include <thread>

namespace nuna::base {

/// A thread that runs `body`. Signals that the program expects on its own threads (SIGINT, SIGALRM, ...) are
/// blocked in it; faults (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP) are not. The name is cut to 15
/// characters.
std::thread start_worker(const std::string& name, std::function<void()> body);

/// Whether the calling thread is one of those: it runs kernels, or moves data, and must not wait for either.
bool on_worker_thread();

}  // namespace nuna::base
