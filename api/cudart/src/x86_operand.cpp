#include "x86_operand.hpp"

#include <cstring>

namespace nuna::cudart {
namespace {

/// What precedes an operand: where its ModRM byte is, and the fourth bits of register numbers.
struct Prefixes {
  const unsigned char* modrm = nullptr;
  unsigned base_high = 0;
  unsigned index_high = 0;
};

bool is_legacy_prefix(unsigned char byte) {
  switch (byte) {
    case 0x26:
    case 0x2e:
    case 0x36:
    case 0x3e:
    case 0x64:
    case 0x65:
    case 0x66:
    case 0x67:
    case 0xf0:
    case 0xf2:
    case 0xf3:
      return true;
    default:
      return false;
  }
}

Prefixes after_prefixes(const unsigned char* at) {
  while (is_legacy_prefix(*at)) ++at;
  // VEX and EVEX hold these bits inverted, and the opcode is one byte.
  if (*at == 0xc5) return {at + 3, 0, 0};
  if (*at == 0xc4) return {at + 4, (~at[1] >> 5 & 1u) << 3, (~at[1] >> 6 & 1u) << 3};
  if (*at == 0x62) return {at + 5, (~at[1] >> 5 & 1u) << 3, (~at[1] >> 6 & 1u) << 3};
  Prefixes found;
  if ((*at & 0xf0) == 0x40) {  // REX
    found.base_high = (*at & 1u) << 3;
    found.index_high = (*at >> 1 & 1u) << 3;
    ++at;
  }
  if (*at == 0x0f) {
    ++at;
    if (*at == 0x38 || *at == 0x3a) ++at;
  }
  found.modrm = at + 1;
  return found;
}

std::uint64_t displacement(const unsigned char* at) {
  std::int32_t value = 0;
  std::memcpy(&value, at, sizeof value);
  return static_cast<std::uint64_t>(std::int64_t{value});
}

bool has_vector_index(const unsigned char* code) {
  while (is_legacy_prefix(*code)) ++code;
  const unsigned char* const opcode = *code == 0xc4 ? code + 3 : *code == 0x62 ? code + 4 : nullptr;
  if (opcode == nullptr || (code[1] & 7) != 2) return false;
  return (*opcode >= 0x90 && *opcode <= 0x93) || (*opcode >= 0xa0 && *opcode <= 0xa3);
}

}  // namespace

std::optional<std::uint64_t> operand_address(const unsigned char* code, const X86Registers& registers) {
  constexpr unsigned kSib = 4;
  constexpr unsigned kNoBase = 5;
  const Prefixes prefixes = after_prefixes(code);
  const unsigned mode = *prefixes.modrm >> 6;
  const unsigned place = *prefixes.modrm & 7u;
  if (mode == 3 || has_vector_index(code)) return std::nullopt;
  const unsigned char* rest = prefixes.modrm + 1;
  std::uint64_t address = 0;
  unsigned base = place;
  if (place == kSib) {
    const unsigned sib = *rest++;
    base = sib & 7u;
    const unsigned index = (sib >> 3 & 7u) | prefixes.index_high;
    if (index != kSib) address += registers[index] << (sib >> 6);
  }
  if (mode == 0 && base == kNoBase) {
    if (place != kSib) return std::nullopt;  // in the code itself
    return address + displacement(rest);
  }
  address += registers[base | prefixes.base_high];
  return mode == 2 ? address + displacement(rest) : address;
}

}  // namespace nuna::cudart
