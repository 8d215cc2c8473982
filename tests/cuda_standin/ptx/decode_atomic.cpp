// Atomic operations. They are the host's, so host and other cards' kernels see them as such.

#include <algorithm>
#include <cstdio>

#include "ptx/decode_simple.hpp"
#include "ptx/touch.hpp"

namespace standin::ptx {
namespace {

struct Add {
  template <class T>
  static T of(T old, T value) {
    if constexpr (std::is_floating_point_v<T>)
      return old + value;
    else
      return static_cast<T>(static_cast<std::uint64_t>(old) + static_cast<std::uint64_t>(value));
  }
};
struct Min {
  template <class T>
  static T of(T old, T value) {
    return std::min(old, value);
  }
};
struct Max {
  template <class T>
  static T of(T old, T value) {
    return std::max(old, value);
  }
};
struct And {
  template <class T>
  static T of(T old, T value) {
    return static_cast<T>(old & value);
  }
};
struct Or {
  template <class T>
  static T of(T old, T value) {
    return static_cast<T>(old | value);
  }
};
struct Xor {
  template <class T>
  static T of(T old, T value) {
    return static_cast<T>(old ^ value);
  }
};
struct Exchange {
  template <class T>
  static T of(T, T value) {
    return value;
  }
};
/// Counts up to the value, then from 0 again.
struct Increment {
  template <class T>
  static T of(T old, T value) {
    return old >= value ? T{0} : static_cast<T>(old + 1);
  }
};
struct Decrement {
  template <class T>
  static T of(T old, T value) {
    return old == 0 || old > value ? value : static_cast<T>(old - 1);
  }
};

template <class T>
using Word = std::conditional_t<sizeof(T) == 8, std::uint64_t,
                                std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint16_t>>;

template <class T, class Op, Where Space>
bool change(Thread& t, const Instruction& i) {
  std::uint8_t* at = touch<Space>(t, i, t.r[i.a] + static_cast<std::uint64_t>(i.offset), sizeof(T), true);
  if (at == nullptr) return false;
  auto* word = reinterpret_cast<Word<T>*>(at);
  const T value = t.get<T>(i.b);
  Word<T> old = __atomic_load_n(word, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(word, &old,
                                      std::bit_cast<Word<T>>(Op::of(std::bit_cast<T>(old), value)), false,
                                      __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
  }
  if (i.d != 0) t.set<T>(i.d, std::bit_cast<T>(old));
  return true;
}

template <class T, Where Space>
bool compare_and_swap(Thread& t, const Instruction& i) {
  std::uint8_t* at = touch<Space>(t, i, t.r[i.a] + static_cast<std::uint64_t>(i.offset), sizeof(T), true);
  if (at == nullptr) return false;
  T old = t.get<T>(i.b);
  __atomic_compare_exchange_n(reinterpret_cast<T*>(at), &old, t.get<T>(i.c), false, __ATOMIC_SEQ_CST,
                              __ATOMIC_SEQ_CST);
  if (i.d != 0) t.set<T>(i.d, old);
  return true;
}

template <class Op, bool Floats = false>
Handler choose(Where space, Type type) {
  return for_space(space, [&]<Where Space>() -> Handler {
    switch (type) {
      case Type::kB32:
      case Type::kU32:
        return change<std::uint32_t, Op, Space>;
      case Type::kS32:
        return change<std::int32_t, Op, Space>;
      case Type::kB64:
      case Type::kU64:
        return change<std::uint64_t, Op, Space>;
      case Type::kS64:
        return change<std::int64_t, Op, Space>;
      default:
        break;
    }
    if constexpr (Floats) {
      if (type == Type::kF32) return change<float, Op, Space>;
      if (type == Type::kF64) return change<double, Op, Space>;
    }
    return nullptr;
  });
}

Handler choose_swap(Where space, Type type) {
  return for_space(space, [&]<Where Space>() -> Handler {
    switch (bits_of(type)) {
      case 16:
        return compare_and_swap<std::uint16_t, Space>;
      case 32:
        return compare_and_swap<std::uint32_t, Space>;
      case 64:
        return compare_and_swap<std::uint64_t, Space>;
      default:
        return nullptr;
    }
  });
}

Handler handler_of(Opcode& opcode, Where space) {
  const Type type = opcode.type();
  if (opcode.take("add")) return choose<Add, true>(space, type);
  if (opcode.take("min")) return choose<Min>(space, type);
  if (opcode.take("max")) return choose<Max>(space, type);
  if (opcode.take("and")) return choose<And>(space, type);
  if (opcode.take("or")) return choose<Or>(space, type);
  if (opcode.take("xor")) return choose<Xor>(space, type);
  if (opcode.take("exch")) return choose<Exchange>(space, type);
  if (opcode.take("inc")) return choose<Increment>(space, type);
  if (opcode.take("dec")) return choose<Decrement>(space, type);
  opcode.fail("the operation is not known");
}

void decode_atomic(Decoder& decoder, Opcode& opcode, bool returns) {
  const auto where = where_of(opcode.take_any({"global", "shared", "shared::cta"}), false);
  while (!opcode.take_any({"relaxed", "acquire", "release", "acq_rel", "cta", "cluster", "gpu", "sys"})
              .empty()) {
  }
  const bool swaps = opcode.take("cas");
  const Handler handler = swaps ? choose_swap(where, opcode.type()) : handler_of(opcode, where);
  const std::size_t first = returns ? 1 : 0;
  const std::uint32_t d = returns ? decoder.result(0) : 0;
  const Decoder::Address address = decoder.address(first);
  const std::uint32_t b = decoder.source(first + 1, opcode.type());
  const std::uint32_t c = swaps ? decoder.source(first + 2, opcode.type()) : 0;
  Instruction& made = decoder.emit(handler);
  made.d = d, made.a = address.slot, made.b = b, made.c = c;
  made.offset = address.offset;
  made.recent = decoder.next_recent();
  decoder.depends();
}

}  // namespace

void add_atomic(Table& table) {
  table["atom"] = [](Decoder& d, Opcode& o) { decode_atomic(d, o, true); };
  table["red"] = [](Decoder& d, Opcode& o) { decode_atomic(d, o, false); };
}

}  // namespace standin::ptx
