// Variables: type, size, first values.

#include <bit>
#include <charconv>
#include <cstring>

#include "ptx/parser.hpp"

namespace standin::ptx {

std::size_t bytes_of_type(std::string_view type) {
  if (type == ".b8" || type == ".u8" || type == ".s8") return 1;
  if (type == ".b16" || type == ".u16" || type == ".s16" || type == ".f16") return 2;
  if (type == ".b32" || type == ".u32" || type == ".s32" || type == ".f32" || type == ".f16x2") return 4;
  if (type == ".b64" || type == ".u64" || type == ".s64" || type == ".f64") return 8;
  return 0;
}

std::int64_t Parser::integer() {
  const bool negative = accept("-");
  if (peek().kind != Token::Kind::kNumber) fail("expected a number");
  const Operand value = number();
  if (value.kind != Operand::Kind::kInteger) fail("expected an integer");
  return negative ? -static_cast<std::int64_t>(value.value) : static_cast<std::int64_t>(value.value);
}

/// 12, 0x1F, 017, 0b101, 5U, 0f3F800000, 0d3FF0000000000000, 1.5
Operand Parser::number() {
  Operand result;
  std::string_view text = next().text;
  if (text.starts_with("0f") || text.starts_with("0F") || text.starts_with("0d") || text.starts_with("0D")) {
    result.kind = (text[1] | 0x20) == 'f' ? Operand::Kind::kFloat32 : Operand::Kind::kFloat64;
    std::from_chars(text.data() + 2, text.data() + text.size(), result.value, 16);
    return result;
  }
  if (text.find('.') != std::string_view::npos) {
    double value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    result.kind = Operand::Kind::kFloat64;
    result.value = std::bit_cast<std::uint64_t>(value);
    return result;
  }
  result.kind = Operand::Kind::kInteger;
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16, text.remove_prefix(2);
  } else if (text.starts_with("0b") || text.starts_with("0B")) {
    base = 2, text.remove_prefix(2);
  } else if (text.size() > 1 && text.starts_with("0")) {
    base = 8;
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result.value, base);
  if (error != std::errc{} || (end != text.data() + text.size() && *end != 'U')) fail("bad number");
  return result;
}

Variable Parser::variable(Space space, bool external) {
  Variable result;
  result.space = space;
  result.external = external;
  result.line = peek().line;
  std::size_t element_bytes = 0;
  type_and_name(result, element_bytes);
  dimensions(result, element_bytes);
  return result;
}

void Parser::type_and_name(Variable& result, std::size_t& element_bytes) {
  std::size_t vector = 1;
  for (;;) {
    if (accept(".align")) {
      result.align_bytes = static_cast<std::size_t>(integer());
    } else if (accept(".v2")) {
      vector = 2;
    } else if (accept(".v4")) {
      vector = 4;
    } else if (accept(".ptr")) {  // what a pointer parameter points to: of no matter
      while (peek().is(".global") || peek().is(".shared") || peek().is(".const") || peek().is(".local"))
        next();
    } else if (const std::size_t bytes = bytes_of_type(peek().text); bytes > 0) {
      next();
      element_bytes = bytes * vector;
    } else {
      break;
    }
  }
  if (element_bytes == 0) fail("expected a type");
  result.align_bytes = std::max(result.align_bytes, element_bytes);
  if (peek().kind != Token::Kind::kWord) fail("expected a name");
  result.name = next().text;
}

void Parser::dimensions(Variable& result, std::size_t element_bytes) {
  std::size_t count = 1;
  bool open = false;
  while (accept("[")) {
    if (accept("]")) {
      open = true;
      continue;
    }
    count *= static_cast<std::size_t>(integer());
    expect("]");
  }
  result.size_bytes = open ? 0 : count * element_bytes;
  if (accept("=")) initial_values(result, element_bytes, false);
  if (open && !result.initial.empty()) result.size_bytes = result.initial.size();
}

void Parser::initial_values(Variable& result, std::size_t element_bytes, bool) {
  std::size_t offset = 0;
  if (!peek().is("{")) {
    initial_value(result, element_bytes, offset);
    return;
  }
  int depth = 0;
  do {
    if (accept("{"))
      ++depth;
    else if (accept("}"))
      --depth;
    else if (!accept(","))
      initial_value(result, element_bytes, offset);
  } while (depth > 0);
}

/// A number, or a symbol: x, x+4, generic(x), generic(x)+4.
void Parser::initial_value(Variable& result, std::size_t element_bytes, std::size_t& offset) {
  if (result.initial.size() < offset + element_bytes) result.initial.resize(offset + element_bytes);
  if (peek().kind == Token::Kind::kWord) {
    Relocation relocation{offset, {}, 0};
    const bool generic = peek().is("generic") && peek(1).is("(");
    if (generic) next(), next();
    relocation.symbol = next().text;
    if (generic) expect(")");
    if (accept("+")) relocation.addend = integer();
    if (element_bytes != 8) fail("an address needs 64 bits");
    result.relocations.push_back(std::move(relocation));
  } else {
    const bool negative = accept("-");
    if (peek().kind != Token::Kind::kNumber) fail("expected a first value");
    const Operand value = number();
    std::uint64_t bits = value.value;
    if (value.kind == Operand::Kind::kFloat64 && element_bytes == 4)
      bits = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
    if (negative) bits = ~bits + 1;
    std::memcpy(result.initial.data() + offset, &bits, std::min<std::size_t>(element_bytes, 8));
  }
  offset += element_bytes;
}

}  // namespace standin::ptx
