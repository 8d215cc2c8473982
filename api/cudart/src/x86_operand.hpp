#pragma once
// The address of an instruction's operand in memory, where the processor does not tell it (a general protection fault). Pure.

#include <array>
#include <cstdint>
#include <optional>

namespace nuna::cudart {

/// In the order in which instructions number them: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15.
using X86Registers = std::array<std::uint64_t, 16>;

/// Of the x86-64 instruction at `code`, as far as registers hold it: displacements of 8 bits, which vector instructions scale, are left out.
/// Nothing where it cannot be told: no operand of the usual form, or one whose index is a vector.
/// (Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, chapter 2.)
std::optional<std::uint64_t> operand_address(const unsigned char* code, const X86Registers& registers);

/// Whether memory can have the address at all: its upper 17 bits are alike.
inline bool is_canonical(std::uint64_t address) {
  const std::uint64_t above = address >> 47;
  return above == 0 || above == 0x1ffff;
}

}  // namespace nuna::cudart
