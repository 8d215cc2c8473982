#pragma once
// The process's handler of page faults (D7): gives faults at registered addresses to who serves them, all others to the hook of a library
// over Nuna (nuna/fault_hook.hpp), if there is one, and what that does not want to whoever handled SIGSEGV before.
//
// A good citizen: it is installed when the first range is registered or the hook is set, not before; it keeps the handler that it finds, and
// passes on to it what is not ours, with the mask and flags that it asked for; it runs on the thread's alternate stack where there
// is one, and on the thread's own where there is none; it leaves errno alone. If another handler takes its place, ours() puts
// it back in front and says who it was; the other stays in the chain, and if it calls ours in turn, the next older one gets
// the signal.
//
// Threads: any. add() and remove() must not be called by a thread inside serve(). Signals: serve() is called in a handler with all
// asynchronous signals blocked, on the thread that faulted.

#include <csignal>
#include <cstddef>
#include <cstdint>

#include "nuna/box.hpp"

namespace nuna::adsm {

struct Fault {
  std::byte* address = nullptr;
  bool write = false;
  const sigset_t* signals = nullptr;  ///< blocked where the fault happened
};

/// Serves the faults of a range of addresses.
class FaultServer {
 public:
  enum class Verdict : std::uint8_t {
    served,   ///< the access may be tried again
    again,    ///< so it may, after a wait outside: the server may be gone by then
    refused,  ///< a mistake of the program, which has been told: it gets the signal
  };
  virtual ~FaultServer() = default;
  virtual Verdict serve(const Fault& fault) noexcept = 0;
};

class FaultHandler {
 public:
  /// Faults in [first, first + bytes) go to `server` until it is removed. Ranges do not overlap.
  static void add(std::byte* first, Index bytes, FaultServer& server);
  /// When it returns, no thread is inside the server.
  static void remove(std::byte* first);

  /// A fault in these addresses that is nobody's is told of: a buffer that was there is gone. Until it is forgotten.
  static void add_grounds(std::byte* first, Index bytes);
  static void remove_grounds(std::byte* first);

  /// What is asked about signals that are nobody's, and about SIGBUS, SIGFPE and SIGILL, from now on (nuna/fault_hook.hpp).
  using Hook = bool (*)(int signal, const siginfo_t& info, void* context) noexcept;
  static void set_hook(Hook hook);

  /// Whether our handler is in place. If another has taken the signal, says who (a warning), and takes it back.
  static bool ours();
};

}  // namespace nuna::adsm
