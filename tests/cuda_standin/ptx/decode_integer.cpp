// Integer arithmetic. Computed in unsigned 64 or 128 bits and cut to the type, so that overflow is what the card does.

#include <algorithm>
#include <limits>

#include "ptx/decode_simple.hpp"

namespace standin::ptx {
namespace {

__extension__ using Wide = __int128;
__extension__ using UnsignedWide = unsigned __int128;

template <class T>
using Bits = std::make_unsigned_t<T>;

struct Add {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  }
};
struct Sub {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
  }
};
struct AddSaturated {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(
        std::clamp<Wide>(Wide{a} + b, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
  }
};
struct SubSaturated {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(
        std::clamp<Wide>(Wide{a} - b, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
  }
};
struct MulLow {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  }
};
struct MulHigh {
  template <class T>
  static T of(T a, T b) {
    using W = std::conditional_t<std::is_signed_v<T>, Wide, UnsignedWide>;
    return static_cast<T>((static_cast<W>(a) * static_cast<W>(b)) >> (sizeof(T) * 8));
  }
};
// What a division by zero gives is not specified; the cards give all ones.
struct Div {
  template <class T>
  static T of(T a, T b) {
    if (b == 0) return static_cast<T>(~T{0});
    if constexpr (std::is_signed_v<T>)
      if (b == -1) return Sub::of(T{0}, a);
    return static_cast<T>(a / b);
  }
};
struct Rem {
  template <class T>
  static T of(T a, T b) {
    if (b == 0) return a;
    if constexpr (std::is_signed_v<T>)
      if (b == -1) return 0;
    return static_cast<T>(a % b);
  }
};
struct Min {
  template <class T>
  static T of(T a, T b) {
    return std::min(a, b);
  }
};
struct Max {
  template <class T>
  static T of(T a, T b) {
    return std::max(a, b);
  }
};
struct Neg {
  template <class T>
  static T of(T a) {
    return Sub::of(T{0}, a);
  }
};
struct Abs {
  template <class T>
  static T of(T a) {
    return a < 0 ? Neg::of(a) : a;
  }
};

template <class T, class Op>
bool unary(Thread& t, const Instruction& i) {
  t.set<T>(i.d, Op::of(t.get<T>(i.a)));
  return true;
}
template <class T, class Op>
bool binary(Thread& t, const Instruction& i) {
  t.set<T>(i.d, Op::of(t.get<T>(i.a), t.get<T>(i.b)));
  return true;
}
template <class T, class Op>
bool multiply_add(Thread& t, const Instruction& i) {
  t.set<T>(i.d, Add::of(Op::of(t.get<T>(i.a), t.get<T>(i.b)), t.get<T>(i.c)));
  return true;
}
template <class T>
using Double =
    std::conditional_t<sizeof(T) == 4, std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>,
                       std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>>;
template <class T>
bool multiply_wide(Thread& t, const Instruction& i) {
  t.set<Double<T>>(i.d, static_cast<Double<T>>(Double<T>{t.get<T>(i.a)} * Double<T>{t.get<T>(i.b)}));
  return true;
}
template <class T>
bool multiply_wide_add(Thread& t, const Instruction& i) {
  const auto product = static_cast<Double<T>>(Double<T>{t.get<T>(i.a)} * Double<T>{t.get<T>(i.b)});
  t.set<Double<T>>(i.d, Add::of(product, t.get<Double<T>>(i.c)));
  return true;
}
template <class T>
bool absolute_difference(Thread& t, const Instruction& i) {
  const T a = t.get<T>(i.a), b = t.get<T>(i.b);
  t.set<T>(i.d, Add::of(a < b ? Sub::of(b, a) : Sub::of(a, b), t.get<T>(i.c)));
  return true;
}

template <class Op>
Handler choose_unary(Type type) {
  return for_integer(type, []<class T>(Tag<T>) -> Handler { return unary<T, Op>; });
}
template <class Op>
Handler choose_binary(Type type) {
  return for_integer(type, []<class T>(Tag<T>) -> Handler { return binary<T, Op>; });
}
template <class Op>
Handler choose_multiply_add(Type type) {
  return for_integer(type, []<class T>(Tag<T>) -> Handler { return multiply_add<T, Op>; });
}

}  // namespace

/// d = op(a, b, ...) with as many operands as there are: shared by the families of simple instructions.
void emit_simple(Decoder& decoder, Handler handler, std::initializer_list<Type> types) {
  const std::uint32_t d = decoder.result(0);
  std::uint32_t slots[4] = {};
  std::size_t number = 0;
  for (const Type type : types) {
    slots[number] = decoder.source(number + 1, type);
    ++number;
  }
  Instruction& made = decoder.emit(handler);
  made.d = d;
  made.a = slots[0];
  made.b = slots[1];
  made.c = slots[2];
  made.e = slots[3];
}

namespace {

template <class Op>
void decode_binary(Decoder& decoder, Opcode& opcode) {
  const Type type = opcode.type();
  emit_simple(decoder, choose_binary<Op>(type), {type, type});
}
template <class Op>
void decode_unary(Decoder& decoder, Opcode& opcode) {
  const Type type = opcode.type();
  emit_simple(decoder, choose_unary<Op>(type), {type});
}
template <class Op, class Saturated>
void decode_sum(Decoder& decoder, Opcode& opcode) {
  const Type type = opcode.type();
  const bool saturated = opcode.take("sat");
  emit_simple(decoder, saturated ? choose_binary<Saturated>(type) : choose_binary<Op>(type), {type, type});
}

Type doubled(Type type) {
  switch (type) {
    case Type::kU16:
      return Type::kU32;
    case Type::kS16:
      return Type::kS32;
    case Type::kU32:
      return Type::kU64;
    default:
      return Type::kS64;
  }
}

template <class Choose>
Handler for_narrow(Type type, Choose choose) {
  switch (type) {
    case Type::kU16:
      return choose(Tag<std::uint16_t>{});
    case Type::kS16:
      return choose(Tag<std::int16_t>{});
    case Type::kU32:
      return choose(Tag<std::uint32_t>{});
    case Type::kS32:
      return choose(Tag<std::int32_t>{});
    default:
      return nullptr;
  }
}

void decode_multiply(Decoder& decoder, Opcode& opcode) {
  const Type type = opcode.type();
  const auto which = opcode.take_any({"lo", "hi", "wide"});
  Handler handler = nullptr;
  if (which == "lo") handler = choose_binary<MulLow>(type);
  if (which == "hi") handler = choose_binary<MulHigh>(type);
  if (which == "wide")
    handler = for_narrow(type, []<class T>(Tag<T>) -> Handler { return multiply_wide<T>; });
  emit_simple(decoder, handler, {type, type});
}

void decode_multiply_add(Decoder& decoder, Opcode& opcode) {
  const Type type = opcode.type();
  const auto which = opcode.take_any({"lo", "hi", "wide"});
  Handler handler = nullptr;
  if (which == "lo") handler = choose_multiply_add<MulLow>(type);
  if (which == "hi") handler = choose_multiply_add<MulHigh>(type);
  if (which == "wide")
    handler = for_narrow(type, []<class T>(Tag<T>) -> Handler { return multiply_wide_add<T>; });
  emit_simple(decoder, handler, {type, type, which == "wide" ? doubled(type) : type});
}

}  // namespace

// Of the opcodes that also exist for floats, decode_float.cpp decides.
void decode_integer_add(Decoder& d, Opcode& o) { decode_sum<Add, AddSaturated>(d, o); }
void decode_integer_sub(Decoder& d, Opcode& o) { decode_sum<Sub, SubSaturated>(d, o); }
void decode_integer_mul(Decoder& d, Opcode& o) { decode_multiply(d, o); }
void decode_integer_mad(Decoder& d, Opcode& o) { decode_multiply_add(d, o); }
void decode_integer_div(Decoder& d, Opcode& o) { decode_binary<Div>(d, o); }
void decode_integer_min(Decoder& d, Opcode& o) { decode_binary<Min>(d, o); }
void decode_integer_max(Decoder& d, Opcode& o) { decode_binary<Max>(d, o); }
void decode_integer_neg(Decoder& d, Opcode& o) { decode_unary<Neg>(d, o); }
void decode_integer_abs(Decoder& d, Opcode& o) { decode_unary<Abs>(d, o); }

void add_integer(Table& table) {
  table["rem"] = decode_binary<Rem>;
  table["sad"] = [](Decoder& decoder, Opcode& opcode) {
    const Type type = opcode.type();
    emit_simple(decoder, for_integer(type, []<class T>(Tag<T>) -> Handler { return absolute_difference<T>; }),
                {type, type, type});
  };
}

}  // namespace standin::ptx
