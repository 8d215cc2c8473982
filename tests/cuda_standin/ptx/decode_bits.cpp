// Logic, shifts, and instructions on fields of bits.

#include <algorithm>
#include <bit>

#include "ptx/decode_simple.hpp"

namespace standin::ptx {
namespace {

struct And {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};

template <class T, class Op>
bool logic(Thread& t, const Instruction& i) {
  t.set<T>(i.d, Op::of(t.get<T>(i.a), t.get<T>(i.b)));
  return true;
}
template <class T>
bool invert(Thread& t, const Instruction& i) {
  t.set<T>(i.d, static_cast<T>(~t.get<T>(i.a)));
  return true;
}
bool invert_predicate(Thread& t, const Instruction& i) {
  t.r[i.d] = t.r[i.a] ^ 1;
  return true;
}
template <class T>
bool is_zero(Thread& t, const Instruction& i) {
  t.set<T>(i.d, t.get<T>(i.a) == 0 ? 1 : 0);
  return true;
}

// Shifts by more than the width shift everything out.
template <class T>
bool shift_left(Thread& t, const Instruction& i) {
  const auto by = t.get<std::uint32_t>(i.b);
  t.set<T>(i.d, by >= sizeof(T) * 8 ? T{0} : static_cast<T>(static_cast<std::uint64_t>(t.get<T>(i.a)) << by));
  return true;
}
template <class T>
bool shift_right(Thread& t, const Instruction& i) {
  constexpr std::uint32_t most = sizeof(T) * 8 - 1;
  const auto by = t.get<std::uint32_t>(i.b);
  if (by > most && !std::is_signed_v<T>)
    t.set<T>(i.d, 0);
  else
    t.set<T>(i.d, static_cast<T>(t.get<T>(i.a) >> std::min(by, most)));
  return true;
}
template <bool Left>
bool funnel_shift(Thread& t, const Instruction& i) {
  const std::uint64_t both = std::uint64_t{t.get<std::uint32_t>(i.b)} << 32 | t.get<std::uint32_t>(i.a);
  const auto by = i.option != 0 ? std::min(t.get<std::uint32_t>(i.c), 32u) : t.get<std::uint32_t>(i.c) & 31;
  t.set<std::uint32_t>(i.d, static_cast<std::uint32_t>(Left ? both << by >> 32 : both >> by));
  return true;
}

template <class T>
bool count_ones(Thread& t, const Instruction& i) {
  t.set<std::uint32_t>(i.d, static_cast<std::uint32_t>(std::popcount(t.get<T>(i.a))));
  return true;
}
template <class T>
bool leading_zeros(Thread& t, const Instruction& i) {
  t.set<std::uint32_t>(i.d, static_cast<std::uint32_t>(std::countl_zero(t.get<T>(i.a))));
  return true;
}
template <class T>
bool reverse(Thread& t, const Instruction& i) {
  T from = t.get<T>(i.a), to = 0;
  for (unsigned bit = 0; bit < sizeof(T) * 8; ++bit, from >>= 1) to = static_cast<T>(to << 1 | (from & 1));
  t.set<T>(i.d, to);
  return true;
}
/// The highest bit that differs from the sign (or is set); with an option, counted from the top.
template <class T>
bool find_highest(Thread& t, const Instruction& i) {
  using U = std::make_unsigned_t<T>;
  const T value = t.get<T>(i.a);
  const U bits = static_cast<U>(value < 0 ? ~value : value);
  const auto zeros = static_cast<std::uint32_t>(std::countl_zero(bits));
  const std::uint32_t found = i.option != 0 ? zeros : static_cast<std::uint32_t>(sizeof(T)) * 8 - 1 - zeros;
  t.set<std::uint32_t>(i.d, bits == 0 ? 0xffffffffu : found);
  return true;
}

// As the manual defines it, bit by bit.
template <class T>
bool extract(Thread& t, const Instruction& i) {
  using U = std::make_unsigned_t<T>;
  constexpr std::uint32_t most = sizeof(T) * 8 - 1;
  const U value = static_cast<U>(t.get<T>(i.a));
  const std::uint32_t begin = t.get<std::uint32_t>(i.b) & 0xff, length = t.get<std::uint32_t>(i.c) & 0xff;
  const bool sign =
      std::is_signed_v<T> && length != 0 && (value >> std::min(begin + length - 1, most) & 1) != 0;
  U result = 0;
  for (std::uint32_t bit = 0; bit <= most; ++bit) {
    const bool set = bit < length && begin + bit <= most ? (value >> (begin + bit) & 1) != 0 : sign;
    if (set) result = static_cast<U>(result | U{1} << bit);
  }
  t.set<T>(i.d, static_cast<T>(result));
  return true;
}
template <class T>
bool insert(Thread& t, const Instruction& i) {
  constexpr std::uint32_t most = sizeof(T) * 8 - 1;
  const T from = t.get<T>(i.a);
  T result = t.get<T>(i.b);
  const std::uint32_t begin = t.get<std::uint32_t>(i.c) & 0xff, length = t.get<std::uint32_t>(i.e) & 0xff;
  for (std::uint32_t bit = 0; bit < length && begin + bit <= most; ++bit) {
    const T mask = T{1} << (begin + bit);
    result = (from >> bit & 1) != 0 ? result | mask : result & ~mask;
  }
  t.set<T>(i.d, result);
  return true;
}
bool permute(Thread& t, const Instruction& i) {
  const std::uint64_t bytes = std::uint64_t{t.get<std::uint32_t>(i.b)} << 32 | t.get<std::uint32_t>(i.a);
  const auto selection = t.get<std::uint32_t>(i.c);
  std::uint32_t result = 0;
  for (unsigned n = 0; n < 4; ++n) {
    const std::uint32_t choice = selection >> (4 * n) & 0xf;
    std::uint32_t byte = static_cast<std::uint32_t>(bytes >> (8 * (choice & 7))) & 0xff;
    if ((choice & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;
    result |= byte << (8 * n);
  }
  t.set<std::uint32_t>(i.d, result);
  return true;
}
bool any_logic(Thread& t, const Instruction& i) {
  const auto a = t.get<std::uint32_t>(i.a), b = t.get<std::uint32_t>(i.b), c = t.get<std::uint32_t>(i.c);
  const auto which = t.get<std::uint32_t>(i.e);
  std::uint32_t result = 0;
  for (unsigned n = 0; n < 8; ++n)
    if ((which >> n & 1) != 0)
      result |= ((n & 4) != 0 ? a : ~a) & ((n & 2) != 0 ? b : ~b) & ((n & 1) != 0 ? c : ~c);
  t.set<std::uint32_t>(i.d, result);
  return true;
}

/// The sum of the products of four bytes each.
template <class A, class B>
bool dot_product(Thread& t, const Instruction& i) {
  const auto a = t.get<std::uint32_t>(i.a), b = t.get<std::uint32_t>(i.b);
  auto sum = t.get<std::uint32_t>(i.c);
  for (unsigned n = 0; n < 32; n += 8)
    sum +=
        static_cast<std::uint32_t>(int{static_cast<A>(a >> n & 0xff)} * int{static_cast<B>(b >> n & 0xff)});
  t.set<std::uint32_t>(i.d, sum);
  return true;
}

/// The sum of the products of two halves of `a` with two bytes of `b`, the first of which is `i.option`.
template <class A, class B>
bool dot_product_of_halves(Thread& t, const Instruction& i) {
  const auto a = t.get<std::uint32_t>(i.a), b = t.get<std::uint32_t>(i.b) >> 8 * i.option;
  auto sum = t.get<std::uint32_t>(i.c);
  for (unsigned n = 0; n < 2; ++n)
    sum += static_cast<std::uint32_t>(std::int64_t{static_cast<A>(a >> 16 * n & 0xffff)} *
                                      std::int64_t{static_cast<B>(b >> 8 * n & 0xff)});
  t.set<std::uint32_t>(i.d, sum);
  return true;
}

Type as_bits(Type type) {
  switch (bits_of(type)) {
    case 16:
      return Type::kB16;
    case 32:
      return Type::kB32;
    case 64:
      return Type::kB64;
    default:
      return Type::kNone;
  }
}

template <class Op>
void decode_logic(Decoder& decoder, Opcode& opcode) {
  const Type type = opcode.type();
  if (type == Type::kPred)
    emit_simple(decoder, logic<std::uint64_t, Op>, {type, type});
  else
    emit_simple(decoder, for_integer(as_bits(type), []<class T>(Tag<T>) -> Handler { return logic<T, Op>; }),
                {type, type});
}

template <class Choose>
Handler for_words(Type type, Choose choose) {
  if (bits_of(type) == 32) return choose(Tag<std::uint32_t>{});
  if (bits_of(type) == 64) return choose(Tag<std::uint64_t>{});
  return nullptr;
}

void decode_dot_product(Decoder& decoder, Opcode& opcode) {
  const bool a = opcode.type(0) == Type::kS32, b = opcode.type(1) == Type::kS32;
  using S = std::int8_t;
  using U = std::uint8_t;
  emit_simple(decoder,
              a ? (b ? dot_product<S, S> : dot_product<S, U>) : (b ? dot_product<U, S> : dot_product<U, U>),
              {Type::kB32, Type::kB32, Type::kB32});
}

void decode_dot_product_of_halves(Decoder& decoder, Opcode& opcode) {
  const bool a = opcode.type(0) == Type::kS32, b = opcode.type(1) == Type::kS32;
  const bool high = opcode.take("hi");
  if (!high && !opcode.take("lo")) opcode.fail("'.lo' or '.hi' is missing");
  using S = std::int16_t;
  using U = std::uint16_t;
  emit_simple(decoder,
              a ? (b ? dot_product_of_halves<S, std::int8_t> : dot_product_of_halves<S, std::uint8_t>)
                : (b ? dot_product_of_halves<U, std::int8_t> : dot_product_of_halves<U, std::uint8_t>),
              {Type::kB32, Type::kB32, Type::kB32});
  decoder.code().instructions.back().option = high ? 2 : 0;
}

void decode_funnel(Decoder& decoder, Opcode& opcode) {
  const bool left = opcode.take("l");
  if (!left) opcode.take("r");
  const bool clamp = opcode.take_any({"wrap", "clamp"}) == "clamp";
  emit_simple(decoder, left ? funnel_shift<true> : funnel_shift<false>, {Type::kB32, Type::kB32, Type::kU32});
  decoder.code().instructions.back().option = clamp ? 1 : 0;
}

}  // namespace

void add_bits(Table& table) {
  table["and"] = decode_logic<And>;
  table["or"] = decode_logic<Or>;
  table["xor"] = decode_logic<Xor>;
  table["not"] = [](Decoder& d, Opcode& o) {
    const Handler handler =
        o.type() == Type::kPred
            ? invert_predicate
            : for_integer(as_bits(o.type()), []<class T>(Tag<T>) -> Handler { return invert<T>; });
    emit_simple(d, handler, {o.type()});
  };
  table["cnot"] = [](Decoder& d, Opcode& o) {
    emit_simple(d, for_integer(as_bits(o.type()), []<class T>(Tag<T>) -> Handler { return is_zero<T>; }),
                {o.type()});
  };
  table["shl"] = [](Decoder& d, Opcode& o) {
    emit_simple(d, for_integer(as_bits(o.type()), []<class T>(Tag<T>) -> Handler { return shift_left<T>; }),
                {o.type(), Type::kU32});
  };
  table["shr"] = [](Decoder& d, Opcode& o) {
    emit_simple(d, for_integer(o.type(), []<class T>(Tag<T>) -> Handler { return shift_right<T>; }),
                {o.type(), Type::kU32});
  };
  table["shf"] = decode_funnel;
  table["dp4a"] = decode_dot_product;
  table["dp2a"] = decode_dot_product_of_halves;
  table["popc"] = [](Decoder& d, Opcode& o) {
    emit_simple(d, for_words(o.type(), []<class T>(Tag<T>) -> Handler { return count_ones<T>; }), {o.type()});
  };
  table["clz"] = [](Decoder& d, Opcode& o) {
    emit_simple(d, for_words(o.type(), []<class T>(Tag<T>) -> Handler { return leading_zeros<T>; }),
                {o.type()});
  };
  table["brev"] = [](Decoder& d, Opcode& o) {
    emit_simple(d, for_words(o.type(), []<class T>(Tag<T>) -> Handler { return reverse<T>; }), {o.type()});
  };
  table["bfind"] = [](Decoder& d, Opcode& o) {
    const bool from_top = o.take("shiftamt");
    emit_simple(d, for_integer(o.type(), []<class T>(Tag<T>) -> Handler { return find_highest<T>; }),
                {o.type()});
    d.code().instructions.back().option = from_top ? 1 : 0;
  };
  table["bfe"] = [](Decoder& d, Opcode& o) {
    emit_simple(d, for_integer(o.type(), []<class T>(Tag<T>) -> Handler { return extract<T>; }),
                {o.type(), Type::kU32, Type::kU32});
  };
  table["bfi"] = [](Decoder& d, Opcode& o) {
    emit_simple(d, for_words(o.type(), []<class T>(Tag<T>) -> Handler { return insert<T>; }),
                {o.type(), o.type(), Type::kU32, Type::kU32});
  };
  table["prmt"] = [](Decoder& d, Opcode&) { emit_simple(d, permute, {Type::kB32, Type::kB32, Type::kU32}); };
  table["lop3"] = [](Decoder& d, Opcode&) {
    emit_simple(d, any_logic, {Type::kB32, Type::kB32, Type::kB32, Type::kU32});
  };
}

}  // namespace standin::ptx
