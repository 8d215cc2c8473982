#pragma once
// Starts threads that stay out of the program's way: named for debuggers, and deaf to the program's signals.

#include <functional>
#include <string>
#include <thread>

namespace nuna::device::host {

/// A thread that runs `body`. Signals that the program expects on its own threads (SIGINT, SIGALRM, ...) are
/// blocked in it; faults (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP) are not. The name is cut to 15
/// characters.
std::thread start_worker(const std::string& name, std::function<void()> body);

}  // namespace nuna::device::host
