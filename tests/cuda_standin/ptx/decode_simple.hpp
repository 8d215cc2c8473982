#pragma once
// Shared by the families of instructions: d = op(a, b, ...), and the opcodes that exist for integers and floats.

#include "ptx/decoder.hpp"

namespace standin::ptx {

/// Emits d = handler(a, b, ...); operand n + 1 has the n-th type.
void emit_simple(Decoder& decoder, Handler handler, std::initializer_list<Type> types);

void decode_integer_add(Decoder& decoder, Opcode& opcode);
void decode_integer_sub(Decoder& decoder, Opcode& opcode);
void decode_integer_mul(Decoder& decoder, Opcode& opcode);
void decode_integer_mad(Decoder& decoder, Opcode& opcode);
void decode_integer_div(Decoder& decoder, Opcode& opcode);
void decode_integer_min(Decoder& decoder, Opcode& opcode);
void decode_integer_max(Decoder& decoder, Opcode& opcode);
void decode_integer_neg(Decoder& decoder, Opcode& opcode);
void decode_integer_abs(Decoder& decoder, Opcode& opcode);

/// add.cc, sub.cc, mad.cc and those that read the carry.
void decode_carry_add(Decoder& decoder, Opcode& opcode);
void decode_carry_sub(Decoder& decoder, Opcode& opcode);
void decode_carry_mad(Decoder& decoder, Opcode& opcode);

/// bar.warp.sync
void decode_warp_barrier(Decoder& decoder);

}  // namespace standin::ptx
