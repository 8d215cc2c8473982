// Floating-point arithmetic, and the opcodes that integers share with it.

#include <bit>

#include "ptx/decode_simple.hpp"
#include "ptx/float.hpp"

namespace standin::ptx {
namespace {

// Bits of an instruction's option; the lowest two are the rounding.
constexpr std::uint32_t kFlush = 4, kSaturate = 8, kPropagate = 16;

struct Add {
  template <class T>
  static T of(T a, T b) {
    return a + b;
  }
};
struct Sub {
  template <class T>
  static T of(T a, T b) {
    return a - b;
  }
};
struct Mul {
  template <class T>
  static T of(T a, T b) {
    return a * b;
  }
};
struct Div {
  template <class T>
  static T of(T a, T b) {
    return a / b;
  }
};
struct Root {
  template <class T>
  static T of(T a) {
    return std::sqrt(a);
  }
};
struct Reciprocal {
  template <class T>
  static T of(T a) {
    return T{1} / a;
  }
};
// The approximations are computed well; the cards' differ in the last bits.
struct ReciprocalRoot {
  template <class T>
  static T of(T a) {
    return static_cast<T>(1.0 / std::sqrt(static_cast<double>(a)));
  }
};
struct Power2 {
  template <class T>
  static T of(T a) {
    return static_cast<T>(std::exp2(static_cast<double>(a)));
  }
};
struct Logarithm2 {
  template <class T>
  static T of(T a) {
    return static_cast<T>(std::log2(static_cast<double>(a)));
  }
};
struct Sine {
  template <class T>
  static T of(T a) {
    return static_cast<T>(std::sin(static_cast<double>(a)));
  }
};
struct Cosine {
  template <class T>
  static T of(T a) {
    return static_cast<T>(std::cos(static_cast<double>(a)));
  }
};
struct HyperbolicTangent {
  template <class T>
  static T of(T a) {
    return static_cast<T>(std::tanh(static_cast<double>(a)));
  }
};

template <class T>
T input(const Thread& t, std::uint32_t slot, std::uint32_t option) {
  const T value = t.get<T>(slot);
  return (option & kFlush) != 0 ? flushed(value) : value;
}
template <class T>
void output(Thread& t, const Instruction& i, T value) {
  if ((i.option & kFlush) != 0) value = flushed(value);
  if ((i.option & kSaturate) != 0) value = saturated(value);
  t.set<T>(i.d, canonical(value));
}
Rounding rounding_of(const Instruction& i) { return static_cast<Rounding>(i.option & 3); }

template <class T, class Op>
bool plain_binary(Thread& t, const Instruction& i) {
  t.set<T>(i.d, canonical(Op::of(t.get<T>(i.a), t.get<T>(i.b))));
  return true;
}
template <class T, class Op>
bool any_binary(Thread& t, const Instruction& i) {
  volatile T a = input<T>(t, i.a, i.option), b = input<T>(t, i.b, i.option);
  output<T>(t, i, rounded(rounding_of(i), [&] { return Op::of(T{a}, T{b}); }));
  return true;
}
template <class T, class Op>
bool any_unary(Thread& t, const Instruction& i) {
  volatile T a = input<T>(t, i.a, i.option);
  output<T>(t, i, rounded(rounding_of(i), [&] { return Op::of(T{a}); }));
  return true;
}
template <class T>
bool plain_fused(Thread& t, const Instruction& i) {
  t.set<T>(i.d, canonical(std::fma(t.get<T>(i.a), t.get<T>(i.b), t.get<T>(i.c))));
  return true;
}
template <class T>
bool any_fused(Thread& t, const Instruction& i) {
  volatile T a = input<T>(t, i.a, i.option), b = input<T>(t, i.b, i.option), c = input<T>(t, i.c, i.option);
  output<T>(t, i, rounded(rounding_of(i), [&] { return std::fma(T{a}, T{b}, T{c}); }));
  return true;
}

/// The number if one is NaN; -0 is less than +0.
template <class T, bool Max>
bool choose_extreme(Thread& t, const Instruction& i) {
  const T a = input<T>(t, i.a, i.option), b = input<T>(t, i.b, i.option);
  T result = b;
  if (a != a || b != b)
    result = (i.option & kPropagate) != 0 || (a != a && b != b) ? std::numeric_limits<T>::quiet_NaN()
             : a != a                                           ? b
                                                                : a;
  else if (a == b)
    result = std::signbit(a) == Max ? b : a;
  else
    result = (a < b) == Max ? b : a;
  output<T>(t, i, result);
  return true;
}

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
template <class T>
constexpr BitsOf<T> kSign = BitsOf<T>{1} << (sizeof(T) * 8 - 1);

template <class T>
bool negate(Thread& t, const Instruction& i) {
  t.set<T>(i.d, std::bit_cast<T>(std::bit_cast<BitsOf<T>>(input<T>(t, i.a, i.option)) ^ kSign<T>));
  return true;
}
template <class T>
bool absolute(Thread& t, const Instruction& i) {
  t.set<T>(i.d, std::bit_cast<T>(std::bit_cast<BitsOf<T>>(input<T>(t, i.a, i.option)) & ~kSign<T>));
  return true;
}
/// The sign of a, the rest of b.
template <class T>
bool copy_sign(Thread& t, const Instruction& i) {
  const auto a = t.get<BitsOf<T>>(i.a), b = t.get<BitsOf<T>>(i.b);
  t.set<BitsOf<T>>(i.d, (a & kSign<T>) | (b & ~kSign<T>));
  return true;
}

enum class Property : std::uint32_t { kFinite, kInfinite, kNumber, kNotANumber, kNormal, kSubnormal };
template <class T>
bool test(Thread& t, const Instruction& i) {
  const T value = t.get<T>(i.a);
  bool holds = false;
  switch (static_cast<Property>(i.option)) {
    case Property::kFinite:
      holds = std::isfinite(value);
      break;
    case Property::kInfinite:
      holds = std::isinf(value);
      break;
    case Property::kNumber:
      holds = !std::isnan(value);
      break;
    case Property::kNotANumber:
      holds = std::isnan(value);
      break;
    case Property::kNormal:
      holds = std::isnormal(value);
      break;
    case Property::kSubnormal:
      holds = std::fpclassify(value) == FP_SUBNORMAL;
      break;
  }
  t.r[i.d] = holds ? 1 : 0;
  return true;
}

// Halves: sums, products and fused products are rounded once, from a type in which they are exact.
template <class Op>
bool half_binary(Thread& t, const Instruction& i) {
  const double a = static_cast<double>(half_to_float(t.get<std::uint16_t>(i.a)));
  const double b = static_cast<double>(half_to_float(t.get<std::uint16_t>(i.b)));
  t.set<std::uint16_t>(i.d, double_to_half(Op::of(a, b), Rounding::kNearest));
  return true;
}
bool half_fused(Thread& t, const Instruction& i) {
  const double a = static_cast<double>(half_to_float(t.get<std::uint16_t>(i.a)));
  const double b = static_cast<double>(half_to_float(t.get<std::uint16_t>(i.b)));
  const double c = static_cast<double>(half_to_float(t.get<std::uint16_t>(i.c)));
  t.set<std::uint16_t>(i.d, double_to_half(a * b + c, Rounding::kNearest));
  return true;
}

bool half_negate(Thread& t, const Instruction& i) {
  t.set<std::uint16_t>(i.d, t.get<std::uint16_t>(i.a) ^ 0x8000);
  return true;
}
bool half_absolute(Thread& t, const Instruction& i) {
  t.set<std::uint16_t>(i.d, t.get<std::uint16_t>(i.a) & 0x7fff);
  return true;
}

bool is_float(const Opcode& opcode) { return opcode.type() == Type::kF32 || opcode.type() == Type::kF64; }

std::uint32_t options(Opcode& opcode) {
  const auto mode = opcode.take_any({"rn", "rz", "rm", "rp", "approx", "full"});
  std::uint32_t option = mode == "rz" ? 1 : mode == "rm" ? 2 : mode == "rp" ? 3 : 0;
  if (opcode.take("ftz")) option |= kFlush;
  if (opcode.take("sat")) option |= kSaturate;
  if (opcode.take("NaN")) option |= kPropagate;
  return option;
}

void finish(Decoder& decoder, std::uint32_t option) { decoder.code().instructions.back().option = option; }

template <class Op>
void decode_binary(Decoder& decoder, Opcode& opcode) {
  const Type type = opcode.type();
  const std::uint32_t option = options(opcode);
  emit_simple(decoder,
              option == 0 ? for_float(type, []<class T>(Tag<T>) -> Handler { return plain_binary<T, Op>; })
                          : for_float(type, []<class T>(Tag<T>) -> Handler { return any_binary<T, Op>; }),
              {type, type});
  finish(decoder, option);
}

template <class Op>
void decode_unary(Decoder& decoder, Opcode& opcode) {
  const Type type = opcode.type();
  const std::uint32_t option = options(opcode);
  emit_simple(decoder, for_float(type, []<class T>(Tag<T>) -> Handler { return any_unary<T, Op>; }), {type});
  finish(decoder, option);
}

void decode_fused(Decoder& decoder, Opcode& opcode) {
  const Type type = opcode.type();
  const std::uint32_t option = options(opcode);
  Handler handler = option == 0 ? for_float(type, []<class T>(Tag<T>) -> Handler { return plain_fused<T>; })
                                : for_float(type, []<class T>(Tag<T>) -> Handler { return any_fused<T>; });
  if (type == Type::kF16 && option == 0) handler = half_fused;
  emit_simple(decoder, handler, {type, type, type});
  finish(decoder, option);
}

template <bool Max>
void decode_extreme(Decoder& decoder, Opcode& opcode) {
  const Type type = opcode.type();
  const std::uint32_t option = options(opcode);
  emit_simple(decoder, for_float(type, []<class T>(Tag<T>) -> Handler { return choose_extreme<T, Max>; }),
              {type, type});
  finish(decoder, option);
}

/// Floats here, halves here, integers in their own file.
template <class Op, DecodeFunction Integer>
void decode_arithmetic(Decoder& decoder, Opcode& opcode) {
  if (is_float(opcode)) return decode_binary<Op>(decoder, opcode);
  if (opcode.type() != Type::kF16) return Integer(decoder, opcode);
  opcode.take("rn");
  emit_simple(decoder, half_binary<Op>, {Type::kF16, Type::kF16});
}

template <DecodeFunction Carry, class Op, DecodeFunction Integer>
void decode_sum(Decoder& decoder, Opcode& opcode) {
  if (!opcode.take("cc")) return decode_arithmetic<Op, Integer>(decoder, opcode);
  Opcode with_carry(opcode.base() + ".cc." + (bits_of(opcode.type()) == 64 ? "u64" : "u32"), opcode.line());
  Carry(decoder, with_carry);
}

void decode_mad(Decoder& decoder, Opcode& opcode) {
  if (is_float(opcode)) return decode_fused(decoder, opcode);
  if (!opcode.take("cc")) return decode_integer_mad(decoder, opcode);
  const std::string which(opcode.take_any({"lo", "hi"}));
  const bool is_signed = opcode.type() == Type::kS32 || opcode.type() == Type::kS64;
  std::string type(is_signed ? "s" : "u");
  type += std::to_string(bits_of(opcode.type()));
  std::string text = "mad.";
  text += which;
  text += ".cc.";
  text += type;
  Opcode with_carry(text, opcode.line());
  decode_carry_mad(decoder, with_carry);
}

void decode_test(Decoder& decoder, Opcode& opcode) {
  constexpr std::string_view kNames[] = {"finite", "infinite", "number", "notanumber", "normal", "subnormal"};
  std::uint32_t property = 0;
  while (property < 5 && !opcode.take(kNames[property])) ++property;
  if (property == 5 && !opcode.take(kNames[5])) opcode.fail("a property is missing");
  emit_simple(decoder, for_float(opcode.type(), []<class T>(Tag<T>) -> Handler { return test<T>; }),
              {opcode.type()});
  finish(decoder, property);
}

}  // namespace

void add_float(Table& table) {
  table["add"] = decode_sum<decode_carry_add, Add, decode_integer_add>;
  table["sub"] = decode_sum<decode_carry_sub, Sub, decode_integer_sub>;
  table["mul"] = decode_arithmetic<Mul, decode_integer_mul>;
  table["mad"] = decode_mad;
  table["fma"] = decode_fused;
  table["div"] = [](Decoder& d, Opcode& o) {
    is_float(o) ? decode_binary<Div>(d, o) : decode_integer_div(d, o);
  };
  table["min"] = [](Decoder& d, Opcode& o) {
    is_float(o) ? decode_extreme<false>(d, o) : decode_integer_min(d, o);
  };
  table["max"] = [](Decoder& d, Opcode& o) {
    is_float(o) ? decode_extreme<true>(d, o) : decode_integer_max(d, o);
  };
  table["neg"] = [](Decoder& d, Opcode& o) {
    if (o.type() == Type::kF16) return emit_simple(d, half_negate, {Type::kB16});
    if (!is_float(o)) return decode_integer_neg(d, o);
    const std::uint32_t option = options(o);
    emit_simple(d, for_float(o.type(), []<class T>(Tag<T>) -> Handler { return negate<T>; }), {o.type()});
    finish(d, option);
  };
  table["abs"] = [](Decoder& d, Opcode& o) {
    if (o.type() == Type::kF16) return emit_simple(d, half_absolute, {Type::kB16});
    if (!is_float(o)) return decode_integer_abs(d, o);
    const std::uint32_t option = options(o);
    emit_simple(d, for_float(o.type(), []<class T>(Tag<T>) -> Handler { return absolute<T>; }), {o.type()});
    finish(d, option);
  };
  table["copysign"] = [](Decoder& d, Opcode& o) {
    emit_simple(d, for_float(o.type(), []<class T>(Tag<T>) -> Handler { return copy_sign<T>; }),
                {o.type(), o.type()});
  };
  table["testp"] = decode_test;
  table["sqrt"] = decode_unary<Root>;
  table["rcp"] = decode_unary<Reciprocal>;
  table["rsqrt"] = decode_unary<ReciprocalRoot>;
  table["ex2"] = decode_unary<Power2>;
  table["lg2"] = decode_unary<Logarithm2>;
  table["sin"] = decode_unary<Sine>;
  table["cos"] = decode_unary<Cosine>;
  table["tanh"] = decode_unary<HyperbolicTangent>;
}

}  // namespace standin::ptx
