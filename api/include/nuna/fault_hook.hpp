#pragma once
// For libraries over Nuna whose threads run code of others: what becomes of that code's faults.

#include <csignal>

#include "nuna/config.hpp"

namespace nuna::detail {

/// Called by Nuna's handler of SIGSEGV, SIGBUS, SIGFPE and SIGILL, on the thread that faulted, for faults that no view serves and for
/// signals that somebody has sent. True: the thread goes on where `context`, a ucontext_t, says. False: whoever had the signal before
/// Nuna gets it. Only what a signal handler may do; asynchronous signals are blocked meanwhile, and the stack is the thread's
/// alternate one where it has one.
using FaultHook = bool (*)(int signal, const siginfo_t& info, void* context) noexcept;

/// Of the process, from now on; takes the four signals if Nuna does not have them. Any thread.
NUNA_API void set_fault_hook(FaultHook hook);

}  // namespace nuna::detail
