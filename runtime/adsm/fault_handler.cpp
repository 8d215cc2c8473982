#include "adsm/fault_handler.hpp"

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "adsm/futex.hpp"
#include "adsm/gate.hpp"
#include "base/check.hpp"
#include "base/log.hpp"
#include "base/mutex.hpp"
#include "nuna/config.hpp"

// Does nothing, and is called for every fault that is the program's own mistake: a debugger that lets ours pass stops here.
extern "C" NUNA_API [[gnu::noinline]] void nuna_segmentation_fault(const void* address) {
  asm volatile("" : : "r"(address) : "memory");
}

namespace nuna::adsm {
namespace {

struct Range {
  std::byte* first = nullptr;
  std::byte* last = nullptr;
  FaultServer* server = nullptr;
};

// What others did with a signal: [0] before we came, the later ones took it from us.
struct Chain {
  static constexpr std::size_t kMost = 8;
  std::array<struct sigaction, kMost> before{};
  std::atomic<std::size_t> count{0};
  std::atomic<bool> installed{false};
};

// Views need the first only; the hook gets all.
constexpr std::array kSignals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};

struct Process {
  Gate gate;                   // paused while ranges change
  std::vector<Range> ranges;   // by address
  std::vector<Range> grounds;  // where buffers are
  std::array<Chain, kSignals.size()> chains;
  std::atomic<FaultHandler::Hook> hook{nullptr};
  base::Mutex mutex;  // of who installs
  pid_t pid = 0;
  // In a page that a child of a fork finds empty; null where the kernel has none such.
  std::atomic<bool>* here = nullptr;
};

// Never destroyed: a fault may come at any time.
Process& process() {
  static auto* const only = new Process;
  return *only;
}
Process* handled = nullptr;  // the same, for the handler, which initialises nothing

Chain& chain_of(Process& p, int signal) {
  const auto* const found = std::find(kSignals.begin(), kSignals.end(), signal);
  return p.chains[static_cast<std::size_t>(found - kSignals.begin())];
}

// How far down its chain a thread's signal is. A handler that leaves by longjmp leaves it behind: a call by a handler has the
// same context and lies below on the stack; another signal has another context, or lies where the one that was left did.
struct Forwarding {
  const void* context = nullptr;
  const void* frame = nullptr;
  std::size_t depth = 0;
};
[[gnu::tls_model("initial-exec")]] thread_local Forwarding forwarding;

bool is_write([[maybe_unused]] const ucontext_t& context) {
#if defined(__x86_64__)
  return (context.uc_mcontext.gregs[REG_ERR] & 2) != 0;
#else
#error "tell reads from writes here"
#endif
}

void die(int signal, const siginfo_t& info) {
  struct sigaction fallback{};
  fallback.sa_handler = SIG_DFL;
  sigaction(signal, &fallback, nullptr);
  // A fault comes again by itself when we return; what somebody sent must be sent again.
  if (info.si_code <= 0) syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), signal);
}

// To whoever had the signal before: the newest of them, or the next older if that one has called us.
void forward(int signal, siginfo_t* info, void* context) {
  Chain& chain = chain_of(*handled, signal);
  const void* const frame = __builtin_frame_address(0);
  const bool nested = forwarding.context == context && frame < forwarding.frame;
  const Forwarding outer = nested ? forwarding : Forwarding{};
  const std::size_t count = chain.count.load(std::memory_order_acquire);
  const std::size_t depth = outer.depth + 1;
  if (depth > count) return die(signal, *info);
  struct sigaction& next = chain.before[count - depth];
  if (next.sa_handler == SIG_DFL) return die(signal, *info);  // whatever its flags: SA_RESETHAND leaves them
  if (next.sa_handler == SIG_IGN) {
    if (info->si_code > 0) die(signal, *info);  // a fault cannot be ignored
    return;
  }
  sigset_t mask = static_cast<ucontext_t*>(context)->uc_sigmask;
  for (int s = 1; s <= SIGRTMAX; ++s) {
    if (sigismember(&next.sa_mask, s) == 1) sigaddset(&mask, s);
  }
  if ((next.sa_flags & SA_NODEFER) == 0) sigaddset(&mask, signal);
  forwarding = {context, frame, depth};
  const bool plain = (next.sa_flags & SA_SIGINFO) == 0;
  const auto handler = next.sa_handler;
  const auto action = next.sa_sigaction;
  if ((next.sa_flags & static_cast<int>(SA_RESETHAND)) != 0) next.sa_handler = SIG_DFL;
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  if (plain) {
    handler(signal);
  } else {
    action(signal, info, context);
  }
  forwarding = outer;
}

constexpr std::uint32_t kSpins = 32;
constexpr std::chrono::microseconds kStep(5);
constexpr std::chrono::milliseconds kLongest(1);

bool is_in_grounds(const Process& p, const std::byte* address) {
  return std::any_of(p.grounds.begin(), p.grounds.end(),
                     [&](const Range& r) { return address >= r.first && address < r.last; });
}

void tell_of_grounds() {
  static std::atomic<bool> told{false};
  if (told.exchange(true)) return;
  constexpr char kText[] =
      "nuna error [adsm]: a pointer into a buffer was used after the buffer was released: keep the buffer "
      "as long as "
      "its pointers are used\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kText, sizeof kText - 1);
}

// False: it is in no range, or a mistake; in_grounds says whether there may have been a buffer there.
bool serve(const Fault& fault, bool& in_grounds) {
  Process& p = *handled;
  for (std::uint32_t attempt = 0;; ++attempt) {
    const std::uint32_t seen = Gate::resumed();
    const Gate::Entry entry = p.gate.enter();
    if (entry == Gate::Entry::paused) {
      Gate::wait_for_resume(seen, kLongest);
      continue;
    }
    const auto after = std::upper_bound(p.ranges.begin(), p.ranges.end(), fault.address,
                                        [](const std::byte* a, const Range& r) { return a < r.first; });
    const bool known = after != p.ranges.begin() && fault.address < (after - 1)->last;
    const FaultServer::Verdict verdict =
        known ? (after - 1)->server->serve(fault) : FaultServer::Verdict::refused;
    in_grounds = !known && is_in_grounds(p, fault.address);
    if (entry == Gate::Entry::inside) p.gate.leave();
    if (verdict == FaultServer::Verdict::refused) return false;
    if (verdict == FaultServer::Verdict::served) return true;
    if (attempt < kSpins) continue;
    // Longer and longer: a fraction of what it has taken so far. And the program's signals are let in.
    Gate::wait_for_resume(seen, std::min<std::chrono::nanoseconds>(kLongest, kStep * (attempt - kSpins + 4)));
    sleep_for(std::chrono::nanoseconds(0), fault.signals);
  }
}

// Tells this process from its children without a system call at every fault.
void mark_process(Process& p) {
  p.pid = getpid();
  if (p.here == nullptr) {
    constexpr std::size_t kPage = 4096;
    void* const page = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return;
    if (madvise(page, kPage, MADV_WIPEONFORK) != 0) {
      munmap(page, kPage);
      return;
    }
    p.here = new (page) std::atomic<bool>;
  }
  p.here->store(true);
}

bool is_child(const Process& p) {
  return p.here != nullptr ? !p.here->load(std::memory_order_relaxed) : syscall(SYS_getpid) != p.pid;
}

bool serve_view(const siginfo_t& info, const ucontext_t& state, bool& in_grounds) {
  const Fault fault{static_cast<std::byte*>(info.si_addr), is_write(state), &state.uc_sigmask};
  // A child of a fork has none of the mappings, and of the threads only itself.
  if (info.si_code > 0 && !is_child(*handled) && serve(fault, in_grounds)) return true;
  if (info.si_code > 0) nuna_segmentation_fault(info.si_addr);
  return false;
}

void on_fault(int signal, siginfo_t* info, void* context) {
  const int kept = errno;
  const FaultHandler::Hook hook = handled->hook.load(std::memory_order_acquire);
  bool in_grounds = false;
  const bool dealt_with =
      (signal == SIGSEGV && serve_view(*info, *static_cast<const ucontext_t*>(context), in_grounds)) ||
      (hook != nullptr && hook(signal, *info, context));
  if (!dealt_with) {
    if (in_grounds) tell_of_grounds();
    forward(signal, info, context);
  }
  errno = kept;
}

struct sigaction our_action() {
  struct sigaction action{};
  action.sa_sigaction = &on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;  // a fault of our own is told like any other
  sigfillset(&action.sa_mask);
  for (const int s : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) sigdelset(&action.sa_mask, s);
  return action;
}

bool is_ours(const struct sigaction& a) {
  return (a.sa_flags & SA_SIGINFO) != 0 && a.sa_sigaction == &on_fault;
}

std::string name_of(const struct sigaction& action) {
  if (action.sa_handler == SIG_DFL) return "the default action";
  if (action.sa_handler == SIG_IGN) return "nobody (SIG_IGN)";
  Dl_info where{};
  if (dladdr(reinterpret_cast<void*>(action.sa_sigaction), &where) == 0) return "a handler of unknown origin";
  const std::string symbol = where.dli_sname != nullptr ? where.dli_sname : "a handler";
  return symbol + " of " + (where.dli_fname != nullptr ? where.dli_fname : "this program");
}

// After a fork: the child has none of its parent's ranges, and none of the threads that may have been inside the gate.
void begin_in_child(Process& p) {
  p.ranges.clear();
  p.grounds.clear();
  std::destroy_at(&p.gate);
  std::construct_at(&p.gate);
}

// Puts our handler in front of `found`.
void install(Chain& chain, int signal, const struct sigaction& found) {
  const std::size_t count = chain.count.load();
  base::check(count < Chain::kMost, "the chain of signal handlers is full");
  chain.before[count] = found;
  chain.count.store(count + 1, std::memory_order_release);
  const struct sigaction action = our_action();
  sigaction(signal, &action, nullptr);
}

// With the mutex held.
void install_first(Process& p, int signal) {
  Chain& chain = chain_of(p, signal);
  if (chain.installed.load()) return;
  handled = &p;
  struct sigaction found{};
  sigaction(signal, nullptr, &found);
  install(chain, signal, found);
  chain.installed.store(true);
}

}  // namespace

void FaultHandler::add(std::byte* first, Index bytes, FaultServer& server) {
  Process& p = process();
  {
    const base::MutexLock lock(p.mutex);
    if (p.pid != 0 && p.pid != getpid()) begin_in_child(p);
    mark_process(p);
    install_first(p, SIGSEGV);
  }
  const Range range{first, first + bytes, &server};
  const base::MutexLock lock(p.mutex);
  std::vector<Range> ranges = p.ranges;  // handlers read the others meanwhile
  const auto at = std::upper_bound(ranges.begin(), ranges.end(), first,
                                   [](const std::byte* a, const Range& r) { return a < r.first; });
  ranges.insert(at, range);
  const Pause pause(p.gate);
  p.ranges.swap(ranges);
}

void FaultHandler::remove(std::byte* first) {
  Process& p = process();
  const base::MutexLock lock(p.mutex);
  const Pause pause(p.gate);
  std::erase_if(p.ranges, [&](const Range& r) { return r.first == first; });
}

void FaultHandler::add_grounds(std::byte* first, Index bytes) {
  Process& p = process();
  const base::MutexLock lock(p.mutex);
  const Pause pause(p.gate);
  p.grounds.push_back({first, first + bytes, nullptr});
}

void FaultHandler::remove_grounds(std::byte* first) {
  Process& p = process();
  const base::MutexLock lock(p.mutex);
  const Pause pause(p.gate);
  std::erase_if(p.grounds, [&](const Range& r) { return r.first == first; });
}

bool FaultHandler::ours() {
  Process& p = process();
  const base::MutexLock lock(p.mutex);
  Chain& chain = chain_of(p, SIGSEGV);
  if (!chain.installed.load()) return true;
  struct sigaction found{};
  sigaction(SIGSEGV, nullptr, &found);
  if (is_ours(found)) return true;
  base::warn_once(
      "SIGSEGV of " + name_of(found),
      "the signal SIGSEGV, by which Nuna sees what the host touches, was taken by " + name_of(found) +
          "; Nuna takes it back and passes on what is not its own: install handlers before the first host "
          "view, or set NUNA_FAULTS=off");
  if (chain.count.load() == Chain::kMost) {
    // The same few take turns: what is newest stands for them all.
    chain.count.store(Chain::kMost - 1);
  }
  install(chain, SIGSEGV, found);
  return false;
}

void FaultHandler::set_hook(Hook hook) {
  Process& p = process();
  p.hook.store(hook, std::memory_order_release);
  const base::MutexLock lock(p.mutex);
  for (const int signal : kSignals) install_first(p, signal);
}

}  // namespace nuna::adsm
