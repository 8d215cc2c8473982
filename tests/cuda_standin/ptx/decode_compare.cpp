// Comparisons and what is chosen by them.

#include "ptx/decode_simple.hpp"
#include "ptx/float.hpp"

namespace standin::ptx {
namespace {

enum class Compare : std::uint32_t {
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kEqu,
  kNeu,
  kLtu,
  kLeu,
  kGtu,
  kGeu,
  kNum,
  kNan
};
constexpr std::string_view kNames[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ",
                                       "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};
constexpr std::uint32_t kCompareMask = 15, kAnd = 16, kOr = 32, kXor = 64, kFlush = 128;

template <Compare How, class T>
bool holds(T a, T b) {
  bool unordered = false;
  if constexpr (std::is_floating_point_v<T>) unordered = a != a || b != b;
  switch (How) {
    case Compare::kEq:
      return a == b;
    case Compare::kNe:
      return a != b && !unordered;
    case Compare::kLt:
      return a < b;
    case Compare::kLe:
      return a <= b;
    case Compare::kGt:
      return a > b;
    case Compare::kGe:
      return a >= b;
    case Compare::kEqu:
      return a == b || unordered;
    case Compare::kNeu:
      return a != b || unordered;
    case Compare::kLtu:
      return a < b || unordered;
    case Compare::kLeu:
      return a <= b || unordered;
    case Compare::kGtu:
      return a > b || unordered;
    case Compare::kGeu:
      return a >= b || unordered;
    case Compare::kNum:
      return !unordered;
    default:
      return unordered;
  }
}

template <class T, Compare How>
bool plain(Thread& t, const Instruction& i) {
  t.r[i.d] = holds<How>(t.get<T>(i.a), t.get<T>(i.b)) ? 1 : 0;
  return true;
}

template <class T, std::uint32_t... How>
bool one_of(std::uint32_t how, T a, T b, std::integer_sequence<std::uint32_t, How...>) {
  return ((how == How && holds<static_cast<Compare>(How)>(a, b)) || ...);
}

template <class T>
bool compare(const Thread& t, const Instruction& i) {
  T a = t.get<T>(i.a), b = t.get<T>(i.b);
  if constexpr (std::is_floating_point_v<T>)
    if ((i.option & kFlush) != 0) a = flushed(a), b = flushed(b);
  return one_of(i.option & kCompareMask, a, b, std::make_integer_sequence<std::uint32_t, 14>{});
}

std::uint64_t combined(std::uint32_t option, bool result, std::uint64_t with) {
  const std::uint64_t value = result ? 1 : 0;
  if ((option & kAnd) != 0) return value & with;
  if ((option & kOr) != 0) return value | with;
  if ((option & kXor) != 0) return value ^ with;
  return value;
}

template <class T>
bool set_predicates(Thread& t, const Instruction& i) {
  const bool result = compare<T>(t, i);
  const std::uint64_t with = t.r[i.c];
  t.r[i.d] = combined(i.option, result, with);
  if (i.d2 != 0) t.r[i.d2] = combined(i.option, !result, with);
  return true;
}

/// set.u32.*: all ones for true; set.f32.*: 1.0.
template <class T>
bool set_word(Thread& t, const Instruction& i) {
  const bool result = combined(i.option, compare<T>(t, i), t.r[i.c]) != 0;
  t.set<std::uint32_t>(i.d, result ? i.e : 0);
  return true;
}

template <class T, std::uint32_t... How>
Handler plain_of(Compare how, std::integer_sequence<std::uint32_t, How...>) {
  Handler found = nullptr;
  ((static_cast<Compare>(How) == how ? void(found = plain<T, static_cast<Compare>(How)>) : void()), ...);
  return found;
}

bool widen(Thread& t, const Instruction& i) {
  t.set<float>(i.d, half_to_float(t.get<std::uint16_t>(i.a)));
  return true;
}

/// A half is compared as a float.
std::uint32_t widened(Decoder& decoder, std::size_t number) {
  const std::uint32_t from = decoder.source(number, Type::kB16), to = decoder.temporary();
  Instruction& made = decoder.prepare(widen);
  made.d = to, made.a = from;
  return to;
}

Compare compare_of(Opcode& opcode) {
  for (std::uint32_t how = 0; how < std::size(kNames); ++how)
    if (opcode.take(kNames[how])) return static_cast<Compare>(how);
  // The unsigned comparisons of older text.
  if (opcode.take("lo")) return Compare::kLt;
  if (opcode.take("ls")) return Compare::kLe;
  if (opcode.take("hi")) return Compare::kGt;
  if (opcode.take("hs")) return Compare::kGe;
  opcode.fail("a comparison is missing");
}

std::uint32_t combine_of(Opcode& opcode) {
  const auto with = opcode.take_any({"and", "or", "xor"});
  return with == "and" ? kAnd : with == "or" ? kOr : with == "xor" ? kXor : 0;
}

void decode_set_predicate(Decoder& decoder, Opcode& opcode) {
  const bool half = opcode.type() == Type::kF16;
  const Type type = half ? Type::kF32 : opcode.type();
  const Compare how = compare_of(opcode);
  std::uint32_t option = static_cast<std::uint32_t>(how) | combine_of(opcode);
  if (opcode.take("ftz")) option |= kFlush;
  const std::uint32_t d = decoder.result(0);
  const auto& second = decoder.operand(0).second;
  const std::uint32_t d2 = second.empty() ? 0 : decoder.result(second.front());
  const std::uint32_t a = half ? widened(decoder, 1) : decoder.source(1, type);
  const std::uint32_t b = half ? widened(decoder, 2) : decoder.source(2, type);
  const std::uint32_t c = decoder.operands() > 3 ? decoder.source(3, Type::kPred) : 0;
  const bool simple = d2 == 0 && option == static_cast<std::uint32_t>(how);
  const Handler handler = for_any(type, [&]<class T>(Tag<T>) -> Handler {
    return simple ? plain_of<T>(how, std::make_integer_sequence<std::uint32_t, 14>{}) : set_predicates<T>;
  });
  Instruction& made = decoder.emit(handler);
  made.d = d, made.d2 = d2, made.a = a, made.b = b, made.c = c;
  made.option = option;
}

void decode_set(Decoder& decoder, Opcode& opcode) {
  const Type type = opcode.type(1);
  std::uint32_t option = static_cast<std::uint32_t>(compare_of(opcode)) | combine_of(opcode);
  if (opcode.take("ftz")) option |= kFlush;
  if (bits_of(opcode.type(0)) != 32) opcode.fail("only 32-bit results are known");
  const std::uint32_t d = decoder.result(0), a = decoder.source(1, type), b = decoder.source(2, type);
  const std::uint32_t c = decoder.operands() > 3 ? decoder.source(3, Type::kPred) : 0;
  Instruction& made = decoder.emit(for_any(type, []<class T>(Tag<T>) -> Handler { return set_word<T>; }));
  made.d = d, made.a = a, made.b = b, made.c = c;
  made.e = opcode.type(0) == Type::kF32 ? 0x3f800000u : 0xffffffffu;
  made.option = option;
}

bool select(Thread& t, const Instruction& i) {
  t.r[i.d] = t.r[i.c] != 0 ? t.r[i.a] : t.r[i.b];
  return true;
}

template <class T>
bool select_by_sign(Thread& t, const Instruction& i) {
  t.r[i.d] = t.get<T>(i.c) >= 0 ? t.r[i.a] : t.r[i.b];
  return true;
}

}  // namespace

void add_compare(Table& table) {
  table["setp"] = decode_set_predicate;
  table["set"] = decode_set;
  table["selp"] = [](Decoder& d, Opcode& o) { emit_simple(d, select, {o.type(), o.type(), Type::kPred}); };
  table["slct"] = [](Decoder& d, Opcode& o) {
    o.take("ftz");
    const bool is_float = o.type(1) == Type::kF32;
    emit_simple(d, is_float ? select_by_sign<float> : select_by_sign<std::int32_t>,
                {o.type(), o.type(), o.type(1)});
  };
}

}  // namespace standin::ptx
