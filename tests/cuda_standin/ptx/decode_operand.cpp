// Operands: what slot a register, a number, an address or a special register is read from.

#include <bit>

#include "ptx/decoder.hpp"

namespace standin::ptx {
namespace {

bool negate_predicate(Thread& t, const Instruction& i) {
  t.r[i.d] = t.r[i.a] ^ 1;
  return true;
}

}  // namespace

bool local_address(Thread& t, const Instruction& i) {
  t.r[i.d] = t.frame().local_base + static_cast<std::uint64_t>(i.offset);
  return true;
}

const Operand& Decoder::operand(std::size_t number) const {
  if (number >= operands())
    throw Error(statement_->line, "instruction '" + statement_->opcode + "': too few operands");
  return statement_->operands[number];
}

std::uint32_t Decoder::constant(std::uint64_t bits) {
  const auto [found, fresh] = constants_.try_emplace(bits, 0);
  if (fresh) found->second = temporary();
  return found->second;
}

std::uint32_t Decoder::result(const Operand& operand) {
  if (operand.kind == Operand::Kind::kRegister) return static_cast<std::uint32_t>(operand.slot);
  if (operand.kind == Operand::Kind::kName && operand.name == "_") return temporary();
  throw Error(statement_->line, "instruction '" + statement_->opcode + "': the result is no register");
}

std::uint64_t Decoder::bits_of_number(const Operand& operand, Type type) const {
  if (type == Type::kF32 && operand.kind == Operand::Kind::kFloat64)
    return std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(operand.value)));
  if (type == Type::kF64 && operand.kind == Operand::Kind::kFloat32)
    return std::bit_cast<std::uint64_t>(
        static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(operand.value))));
  if (type == Type::kPred) return operand.value != 0 ? 1 : 0;
  return operand.value;
}

std::uint32_t Decoder::source(const Operand& operand, Type type) {
  switch (operand.kind) {
    case Operand::Kind::kRegister: {
      if (!operand.negated) return static_cast<std::uint32_t>(operand.slot);
      const std::uint32_t negated = temporary();
      Instruction& made = prepare(negate_predicate);
      made.d = negated;
      made.a = static_cast<std::uint32_t>(operand.slot);
      return negated;
    }
    case Operand::Kind::kInteger:
    case Operand::Kind::kFloat32:
    case Operand::Kind::kFloat64:
      return constant(bits_of_number(operand, type));
    case Operand::Kind::kName:
      return source_name(operand);
    default:
      throw Error(statement_->line, "instruction '" + statement_->opcode + "': unexpected operand");
  }
}

std::uint32_t Decoder::source_name(const Operand& operand) {
  if (operand.name == "WARP_SZ") return constant(32);
  if (const Handler read = special_register(operand.name)) {
    const std::uint32_t slot = temporary();
    prepare(read).d = slot;
    return slot;
  }
  const Placed* place = placed(operand.name);
  if (place == nullptr) throw Error(statement_->line, "'" + operand.name + "' is not known");
  if (place->space != Space::kLocal && !place->frame) return constant(place->address + operand.value);
  const std::uint32_t slot = temporary();
  Instruction& made = prepare(local_address);
  made.d = slot;
  made.offset = static_cast<std::int64_t>(place->address + operand.value);
  return slot;
}

const Decoder::Placed* Decoder::placed(std::string_view name) const {
  const auto found = placed_.find(name);
  return found == placed_.end() ? nullptr : &found->second;
}

Decoder::Address Decoder::address(std::size_t number) {
  const Operand& operand = this->operand(number);
  if (operand.kind != Operand::Kind::kAddress)
    throw Error(statement_->line, "instruction '" + statement_->opcode + "': expected an address");
  Address result;
  result.offset = static_cast<std::int64_t>(operand.value);
  if (operand.has_register) {
    result.slot = static_cast<std::uint32_t>(operand.slot);
    // A function's parameter whose address is taken is local memory.
    result.local = !function_->entry;
  } else if (!operand.name.empty()) {
    const Placed* place = placed(operand.name);
    if (place != nullptr && place->frame) {
      result.offset += static_cast<std::int64_t>(place->address);
      result.frame = true;
      return result;
    }
    Operand name = operand;
    name.kind = Operand::Kind::kName;
    name.value = 0;
    result.slot = source_name(name);
  }
  return result;
}

}  // namespace standin::ptx
