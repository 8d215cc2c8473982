#pragma once
// What a kernel did when its code faulted, in CUDA's errors and in words. Pure.

#include <csignal>
#include <cstdint>
#include <string>

#include "cuda_runtime_api.h"

namespace nuna::cudart {

/// A signal that a processor raised, as the handler found it.
struct KernelFault {
  int signal = SIGSEGV;
  int code = SEGV_MAPERR;          ///< si_code
  std::uintptr_t address = 0;      ///< si_addr, or, about, that of the operand
  std::uintptr_t instruction = 0;  ///< the address of the one that faulted
  std::uintptr_t stack = 0;        ///< the stack pointer
  bool writes = false;
};

/// What the launch fails with.
cudaError_t error_of(const KernelFault& fault);

/// "writes to 0x10, where it has no memory".
std::string text_of(const KernelFault& fault);

/// "add<int>(int*)" for "_Z3addIiEvPT_".
std::string readable(const std::string& mangled);

}  // namespace nuna::cudart
