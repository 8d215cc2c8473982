#include "base/worker_thread.hpp"

#include <pthread.h>

#include <csignal>
#include <utility>

namespace nuna::base {
namespace {

// A thread inherits the mask of the one that starts it; setting it afterwards would leave a gap.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t blocked;
    sigfillset(&blocked);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) sigdelset(&blocked, fault);
    pthread_sigmask(SIG_BLOCK, &blocked, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

// Handlers of faults ask, too: it takes no allocation, however the library was loaded.
[[gnu::tls_model("initial-exec")]] thread_local bool is_worker = false;

}  // namespace

bool on_worker_thread() { return is_worker; }

std::thread start_worker(const std::string& name, std::function<void()> body) {
  const SignalsBlocked blocked;
  std::thread worker([run = std::move(body)] {
    is_worker = true;
    run();
  });
  pthread_setname_np(worker.native_handle(), name.substr(0, 15).c_str());
  return worker;
}

}  // namespace nuna::base
