// Sums of many words: instructions that write and read the carry.

#include "ptx/decode_simple.hpp"

namespace standin::ptx {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::uint32_t kReads = 1, kWrites = 2, kHigh = 4;

template <class T>
bool add_carry(Thread& t, const Instruction& i) {
  const Wide sum = Wide{t.get<T>(i.a)} + t.get<T>(i.b) + ((i.option & kReads) != 0 ? t.carry : 0u);
  t.set<T>(i.d, static_cast<T>(sum));
  if ((i.option & kWrites) != 0) t.carry = static_cast<std::uint32_t>(sum >> (sizeof(T) * 8)) & 1;
  return true;
}

// After a subtraction the carry is the borrow: 1 if the result wrapped around.
template <class T>
bool sub_carry(Thread& t, const Instruction& i) {
  const Wide take = Wide{t.get<T>(i.b)} + ((i.option & kReads) != 0 ? t.carry : 0u);
  const Wide from = t.get<T>(i.a);
  t.set<T>(i.d, static_cast<T>(from - take));
  if ((i.option & kWrites) != 0) t.carry = from < take ? 1 : 0;
  return true;
}

template <class T, class Unsigned>
bool mad_carry(Thread& t, const Instruction& i) {
  __extension__ using Product = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
  const Product product = static_cast<Product>(t.get<T>(i.a)) * static_cast<Product>(t.get<T>(i.b));
  const auto half = static_cast<Unsigned>((i.option & kHigh) != 0 ? product >> (sizeof(T) * 8) : product);
  const Wide sum = Wide{half} + t.get<Unsigned>(i.c) + ((i.option & kReads) != 0 ? t.carry : 0u);
  t.set<Unsigned>(i.d, static_cast<Unsigned>(sum));
  if ((i.option & kWrites) != 0) t.carry = static_cast<std::uint32_t>(sum >> (sizeof(T) * 8)) & 1;
  return true;
}

bool wide(Type type) { return bits_of(type) == 64; }

std::uint32_t options(Opcode& opcode) {
  std::uint32_t option = 0;
  if (opcode.base().ends_with('c')) option |= kReads;
  if (opcode.take("cc")) option |= kWrites;
  return option;
}

void set_option(Decoder& decoder, std::uint32_t option) {
  decoder.code().instructions.back().option = option;
}

}  // namespace

void decode_carry_add(Decoder& decoder, Opcode& opcode) {
  const Type type = opcode.type();
  emit_simple(decoder, wide(type) ? add_carry<std::uint64_t> : add_carry<std::uint32_t>, {type, type});
  set_option(decoder, options(opcode));
}

void decode_carry_sub(Decoder& decoder, Opcode& opcode) {
  const Type type = opcode.type();
  emit_simple(decoder, wide(type) ? sub_carry<std::uint64_t> : sub_carry<std::uint32_t>, {type, type});
  set_option(decoder, options(opcode));
}

void decode_carry_mad(Decoder& decoder, Opcode& opcode) {
  const Type type = opcode.type();
  std::uint32_t option = options(opcode);
  if (opcode.take_any({"lo", "hi"}) == "hi") option |= kHigh;
  Handler handler = nullptr;
  if (type == Type::kU32) handler = mad_carry<std::uint32_t, std::uint32_t>;
  if (type == Type::kS32) handler = mad_carry<std::int32_t, std::uint32_t>;
  if (type == Type::kU64) handler = mad_carry<std::uint64_t, std::uint64_t>;
  if (type == Type::kS64) handler = mad_carry<std::int64_t, std::uint64_t>;
  emit_simple(decoder, handler, {type, type, type});
  set_option(decoder, option);
}

void add_carry(Table& table) {
  table["addc"] = decode_carry_add;
  table["subc"] = decode_carry_sub;
  table["madc"] = decode_carry_mad;
}

}  // namespace standin::ptx
