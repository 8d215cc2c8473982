#include "kernel_fault.hpp"

#include <cxxabi.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "x86_operand.hpp"

namespace nuna::cudart {
namespace {

enum class Cause { memory, stack, code, misaligned, stray, division, arithmetic, instruction };

/// Frames are smaller; the stack of a thread has no holes, so that a fault so near its pointer is at its end.
constexpr std::uintptr_t kNearStack = std::uintptr_t{64} << 10;

bool is_near_stack(const KernelFault& fault) {
  return fault.address + kNearStack >= fault.stack && fault.address <= fault.stack + kNearStack;
}

// A general protection fault: an address that is not canonical, or an aligned access of many bytes to one that is not a multiple.
Cause cause_of(const KernelFault& fault) {
  if (fault.signal == SIGFPE) return fault.code == FPE_INTDIV ? Cause::division : Cause::arithmetic;
  if (fault.signal == SIGILL) return Cause::instruction;
  if (fault.code == BUS_ADRALN && fault.signal == SIGBUS) return Cause::misaligned;
  if (fault.code == SI_KERNEL && fault.signal == SIGSEGV)
    return is_canonical(fault.address) ? Cause::misaligned : Cause::stray;
  if (fault.address == fault.instruction) return Cause::code;
  return is_near_stack(fault) ? Cause::stack : Cause::memory;
}

std::string hexadecimal(std::uintptr_t number) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%zx", number);
  return text;
}

}  // namespace

cudaError_t error_of(const KernelFault& fault) {
  switch (cause_of(fault)) {
    case Cause::memory:
    case Cause::stray:
      return cudaErrorIllegalAddress;
    case Cause::misaligned:
      return cudaErrorMisalignedAddress;
    case Cause::code:
      return cudaErrorInvalidPc;
    case Cause::instruction:
      return cudaErrorIllegalInstruction;
    case Cause::stack:
    case Cause::division:
    case Cause::arithmetic:
      break;
  }
  return cudaErrorLaunchFailure;
}

std::string text_of(const KernelFault& fault) {
  switch (cause_of(fault)) {
    case Cause::memory:
      return (fault.writes ? "writes to " : "reads from ") + hexadecimal(fault.address) +
             ", where it has no memory";
    case Cause::stray:
      return "uses the address " + hexadecimal(fault.address) + ", which no memory has";
    case Cause::misaligned:
      return "uses an address that is not a multiple of what its type needs, near " +
             hexadecimal(fault.address);
    case Cause::code:
      return "calls a function at " + hexadecimal(fault.address) + ", where there is none";
    case Cause::instruction:
      return "comes to an instruction that is none";
    case Cause::stack:
      return "has used up its thread's stack (recursion that is too deep, or too large arrays)";
    case Cause::division:
      return "divides an integer by zero, or the least one by -1";
    case Cause::arithmetic:
      break;
  }
  return "stops at arithmetic, as the program has enabled exceptions of floating point";
}

std::string readable(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text != nullptr ? text.get() : mangled;
}

}  // namespace nuna::cudart
