// cvt: from every type to every other.

#include <limits>
#include <utility>

#include "ptx/decode_simple.hpp"
#include "ptx/float.hpp"

namespace standin::ptx {
namespace {

/// A half: only its type tells it from an integer.
struct Half {
  std::uint16_t bits;
};

// Bits of an instruction's option; the lowest two are the rounding.
constexpr std::uint32_t kFlush = 4, kSaturate = 8, kToInteger = 16;

template <class T>
T read(const Thread& t, const Instruction& i) {
  if constexpr (std::is_same_v<T, Half>) {
    return {t.get<std::uint16_t>(i.a)};
  } else if constexpr (std::is_same_v<T, float>) {
    return (i.option & kFlush) != 0 ? flushed(t.get<float>(i.a)) : t.get<float>(i.a);
  } else {
    return t.get<T>(i.a);
  }
}

template <class T>
T to_whole(T value, Rounding rounding) {
  switch (rounding) {
    case Rounding::kNearest:
      return std::nearbyint(value);
    case Rounding::kZero:
      return std::trunc(value);
    case Rounding::kDown:
      return std::floor(value);
    default:
      return std::ceil(value);
  }
}

/// Out of range is cut to the range, NaN is 0.
template <class To, class From>
To float_to_integer(From value, Rounding rounding) {
  using Limits = std::numeric_limits<To>;
  const From whole = to_whole(value, rounding);
  if (whole != whole) return 0;
  // The limits as powers of two, which floats hold exactly.
  const From end = std::ldexp(From{1}, Limits::digits);
  if (whole >= end) return Limits::max();
  if (whole < (Limits::is_signed ? -end : From{0})) return Limits::min();
  return static_cast<To>(whole);
}

template <class To, class From>
To integer_to_integer(From value, bool saturate) {
  if (saturate) {
    if (std::cmp_less(value, std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    if (std::cmp_greater(value, std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
  }
  return static_cast<To>(value);
}

/// From a number, float or integer, to a float type.
template <class To, class From>
To to_float(From from, const Instruction& i) {
  const auto rounding = static_cast<Rounding>(i.option & 3);
  volatile From value = from;
  To result;
  if ((i.option & kToInteger) != 0) {
    if constexpr (std::is_floating_point_v<From>)
      result = static_cast<To>(to_whole(from, rounding));
    else
      result = static_cast<To>(from);
  } else {
    result = rounded(rounding, [&] { return static_cast<To>(From{value}); });
  }
  if ((i.option & kFlush) != 0 && sizeof(To) == 4) result = flushed(result);
  if ((i.option & kSaturate) != 0) result = saturated(result);
  return canonical(result);
}

template <class To, class From>
bool convert(Thread& t, const Instruction& i) {
  const From value = read<From>(t, i);
  const auto rounding = static_cast<Rounding>(i.option & 3);
  if constexpr (std::is_same_v<From, Half>) {
    const float wide = half_to_float(value.bits);
    if constexpr (std::is_same_v<To, Half>)
      t.set<std::uint16_t>(i.d,
                           double_to_half(static_cast<double>(to_float<float>(wide, i)), Rounding::kNearest));
    else if constexpr (std::is_floating_point_v<To>)
      t.set<To>(i.d, to_float<To>(wide, i));
    else
      t.set<To>(i.d, float_to_integer<To>(wide, rounding));
  } else if constexpr (std::is_same_v<To, Half>) {
    double wide = static_cast<double>(value);
    if ((i.option & kSaturate) != 0) wide = saturated(wide);
    t.set<std::uint16_t>(i.d, double_to_half(wide, rounding));
  } else if constexpr (std::is_floating_point_v<To>) {
    t.set<To>(i.d, to_float<To>(value, i));
  } else if constexpr (std::is_floating_point_v<From>) {
    t.set<To>(i.d, float_to_integer<To>(value, rounding));
  } else {
    t.set<To>(i.d, integer_to_integer<To>(value, (i.option & kSaturate) != 0));
  }
  return true;
}

/// The commonest of all: no rounding, no range.
template <class To, class From>
bool cut(Thread& t, const Instruction& i) {
  t.set<To>(i.d, static_cast<To>(t.get<From>(i.a)));
  return true;
}

template <class Choose>
Handler for_convertible(Type type, Choose choose) {
  return type == Type::kF16 ? choose(Tag<Half>{}) : for_any(type, choose);
}

void decode_convert(Decoder& decoder, Opcode& opcode) {
  const Type to = opcode.type(0), from = opcode.type(1);
  const auto mode = opcode.take_any({"rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi"});
  std::uint32_t option = 0;
  if (mode.size() > 1) option = mode[1] == 'z' ? 1 : mode[1] == 'm' ? 2 : mode[1] == 'p' ? 3 : 0;
  if (mode.size() == 3) option |= kToInteger;
  if (opcode.take("ftz")) option |= kFlush;
  if (opcode.take("sat")) option |= kSaturate;
  const Handler handler = for_convertible(to, [&]<class To>(Tag<To>) -> Handler {
    return for_convertible(from, [&]<class From>(Tag<From>) -> Handler {
      if constexpr (std::is_integral_v<To> && std::is_integral_v<From>)
        if (option == 0) return cut<To, From>;
      return convert<To, From>;
    });
  });
  emit_simple(decoder, handler, {from});
  decoder.code().instructions.back().option = option;
}

}  // namespace

void add_convert(Table& table) { table["cvt"] = decode_convert; }

}  // namespace standin::ptx
