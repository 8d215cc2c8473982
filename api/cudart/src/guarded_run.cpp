#include "guarded_run.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <optional>
#include <string>

#include "call.hpp"
#include "kernel_fault.hpp"
#include "nuna/fault_hook.hpp"
#include "ranks.hpp"
#include "watcher.hpp"
#include "x86_operand.hpp"

namespace nuna::cudart {
namespace {

/// A kernel that the calling thread runs. In the frame of run_guarded.
struct Running {
  const Function& function;
  const nuna_block_call& call;
  std::jmp_buf end{};                               // where __nuna_end_kernel goes to
  std::uintptr_t floor = 0;                         // the stack below is the code's own
  std::optional<KernelFault> fault = std::nullopt;  // that ends it
};

// Handlers find it without an allocation.
[[gnu::tls_model("initial-exec")]] thread_local Running* running = nullptr;
[[gnu::tls_model("initial-exec")]] thread_local std::uint32_t block_index[3];

/// A stack for the thread's handlers, unless it has one: code that has used up the thread's own can be ended.
class HandlerStack {
 public:
  HandlerStack() {
    stack_t found{};
    if (sigaltstack(nullptr, &found) != 0 || (found.ss_flags & SS_DISABLE) == 0) return;
    void* const memory =
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return;
    memory_ = memory;
    stack_t mine{};
    mine.ss_sp = memory;
    mine.ss_size = kBytes;
    sigaltstack(&mine, nullptr);
  }
  ~HandlerStack() {
    if (memory_ == nullptr) return;
    stack_t found{};
    if (sigaltstack(nullptr, &found) == 0 && found.ss_sp == memory_) {
      found.ss_flags = SS_DISABLE;
      sigaltstack(&found, nullptr);
    }
    munmap(memory_, kBytes);
  }
  HandlerStack(const HandlerStack&) = delete;
  HandlerStack& operator=(const HandlerStack&) = delete;

 private:
  static constexpr std::size_t kBytes = std::size_t{256} << 10;  // of which what is touched is memory
  void* memory_ = nullptr;
};

/// The file that the code is in. May be called in a handler.
const link_map* file_of(std::uintptr_t code) {
  void* const address = reinterpret_cast<void*>(code);  // NOLINT(performance-no-int-to-ptr)
#if __GLIBC_PREREQ(2, 35)
  dl_find_object found{};
  return _dl_find_object(address, &found) == 0 ? found.dlfo_link_map : nullptr;
#else
  Dl_info about{};
  link_map* found = nullptr;
  return dladdr1(address, &about, reinterpret_cast<void**>(&found), RTLD_DL_LINKMAP) != 0 ? found : nullptr;
#endif
}

/// "add.cu:12" where the code tells, else the code's place in its file, of which addr2line makes a line.
std::string place_of(const Running& kernel) {
  if ((kernel.function.kernel->flags & NUNA_KERNEL_AUDITED) != 0) {
    const TouchedLine last = last_touched_line();
    if (last.line != 0) return std::string(last.file) + ":" + std::to_string(last.line);
  }
  const link_map* const file = file_of(kernel.fault->instruction);
  if (file == nullptr) return "";
  char offset[24];
  std::snprintf(offset, sizeof offset, "+0x%zx", kernel.fault->instruction - file->l_addr);
  return (*file->l_name != '\0' ? file->l_name : program_invocation_name) + std::string(offset);
}

/// Whether the code is the kernel's, or a function that it has called and that calls no other (memcpy); others may hold locks.
bool may_be_left(const Running& kernel, const KernelFault& fault) {
  const link_map* const here = file_of(fault.instruction);
  const link_map* const kernels = file_of(reinterpret_cast<std::uintptr_t>(kernel.function.kernel->run));
  if (here == nullptr || here == kernels || error_of(fault) == cudaErrorLaunchFailure) return true;
  std::uintptr_t back = 0;
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  std::memcpy(&back, reinterpret_cast<const void*>(fault.stack), sizeof back);
  return file_of(back) == kernels;
}

void tell_the_end(const Running& kernel) {
  const char* const parts[] = {
      "nuna: kernel ", kernel.function.name.c_str(),
      " fails inside a function of a library, which may hold locks: the program ends\n"};
  for (const char* const part : parts) {
    if (write(Heard::errors(), part, std::strlen(part)) < 0) return;
  }
}

void tell(const Running& kernel, const std::string& what, cudaError_t error) {
  const std::string name = readable(kernel.function.name);
  const std::uint32_t* const block = block_index;
  dprintf(Heard::errors(), "nuna: kernel %s, block (%u, %u, %u): %s: %s\n", name.c_str(), block[0], block[1],
          block[2], what.c_str(), cudaGetErrorName(error));
}

void tell_fault(const Running& kernel) {
  const std::string place = place_of(kernel);
  tell(kernel, text_of(*kernel.fault) + (place.empty() ? "" : ", at " + place), error_of(*kernel.fault));
}

// Where a thread goes on behind its fault: on its own stack, and no longer in a handler.
[[noreturn]] void end_faulted(Running* kernel) {
  if (claim_failure()) tell_fault(*kernel);
  _longjmp(kernel->end, error_of(*kernel->fault));
}

X86Registers numbered(const gregset_t& registers) {
  constexpr int kOrder[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                            REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  X86Registers found{};
  std::transform(std::begin(kOrder), std::end(kOrder), found.begin(),
                 [&](int name) { return static_cast<std::uint64_t>(registers[name]); });
  return found;
}

KernelFault fault_of(int signal, const siginfo_t& info, const gregset_t& registers) {
  constexpr greg_t kWrite = 2;
  KernelFault fault;
  fault.signal = signal;
  fault.code = info.si_code;
  fault.address = reinterpret_cast<std::uintptr_t>(info.si_addr);
  fault.instruction = static_cast<std::uintptr_t>(registers[REG_RIP]);
  fault.stack = static_cast<std::uintptr_t>(registers[REG_RSP]);
  fault.writes = (registers[REG_ERR] & kWrite) != 0;
  if (signal == SIGSEGV && info.si_code == SI_KERNEL) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    const auto* const code = reinterpret_cast<const unsigned char*>(registers[REG_RIP]);
    fault.address = operand_address(code, numbered(registers)).value_or(~(~std::uintptr_t{0} >> 1));
  }
  return fault;
}

bool on_fault(int signal, const siginfo_t& info, void* context) noexcept {
  Running* const kernel = running;
  if (kernel == nullptr || info.si_code <= 0 || kernel->fault) return false;
  constexpr greg_t kBackwards = 0x400;
  constexpr std::uintptr_t kRedZone = 512;
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  kernel->fault = fault_of(signal, info, registers);
  if (!may_be_left(*kernel, *kernel->fault)) {
    tell_the_end(*kernel);
    return false;
  }
  // As if the function had been called there: a return address lies at its stack pointer.
  registers[REG_RSP] =
      static_cast<greg_t>(((kernel->floor - kRedZone) & ~std::uintptr_t{15}) - sizeof(void*));
  registers[REG_RDI] = static_cast<greg_t>(reinterpret_cast<std::uintptr_t>(kernel));
  registers[REG_RIP] = static_cast<greg_t>(reinterpret_cast<std::uintptr_t>(&end_faulted));
  registers[REG_EFL] &= ~kBackwards;
  return true;
}

[[gnu::noinline]] void run_code(Running& kernel) {
  kernel.floor = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  kernel.function.kernel->run(&kernel.call);
}

}  // namespace

void watch_faults() { detail::set_fault_hook(&on_fault); }

std::uint32_t* block_index_here() { return block_index; }

int run_guarded(const Function& function, const nuna_block_call& call) {
  static thread_local const HandlerStack stack;
  Running here{function, call};
  std::copy(call.first, call.first + 3, block_index);
  running = &here;
  const int error = _setjmp(here.end);
  if (error == 0) run_code(here);
  running = nullptr;
  return error;
}

}  // namespace nuna::cudart

extern "C" void __nuna_end_kernel(int error) {
  using namespace nuna::cudart;
  constexpr int kTrap = 0;
  const auto reason = error == kTrap ? cudaErrorLaunchFailure : static_cast<cudaError_t>(error);
  if (running == nullptr) {
    std::fprintf(stderr, "nuna: device code outside of a kernel has failed (%s)\n", cudaGetErrorName(reason));
    std::abort();
  }
  if (error == kTrap && claim_failure()) tell(*running, "__trap() or abort()", reason);
  _longjmp(running->end, reason);
}
