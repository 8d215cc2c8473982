// Loads and stores.

#include <cstdio>

#include "ptx/decode_simple.hpp"
#include "ptx/touch.hpp"

namespace standin::ptx {
namespace {

std::uint64_t address_of(const Thread& t, const Instruction& i) {
  return t.r[i.a] + static_cast<std::uint64_t>(i.offset);
}

template <class T>
using Word =
    std::conditional_t<sizeof(T) == 8, std::uint64_t,
                       std::conditional_t<sizeof(T) == 4, std::uint32_t,
                                          std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint8_t>>>;

template <class T, Where Space>
bool load(Thread& t, const Instruction& i) {
  const std::uint8_t* from = touch<Space>(t, i, address_of(t, i), sizeof(T), false);
  if (from == nullptr) return false;
  T value;
  std::memcpy(&value, from, sizeof value);
  t.set<T>(i.d, value);
  return true;
}
template <class T, Where Space>
bool load_vector(Thread& t, const Instruction& i) {
  const auto& slots = i.extra->slots;
  const std::uint8_t* from = touch<Space>(t, i, address_of(t, i), sizeof(T) * slots.size(), false);
  if (from == nullptr) return false;
  for (std::size_t n = 0; n < slots.size(); ++n) {
    T value;
    std::memcpy(&value, from + n * sizeof value, sizeof value);
    t.set<T>(slots[n], value);
  }
  return true;
}
template <class T, Where Space>
bool store(Thread& t, const Instruction& i) {
  std::uint8_t* to = touch<Space>(t, i, address_of(t, i), sizeof(T), true);
  if (to == nullptr) return false;
  const T value = t.get<T>(i.b);
  std::memcpy(to, &value, sizeof value);
  return true;
}
template <class T, Where Space>
bool store_vector(Thread& t, const Instruction& i) {
  const auto& slots = i.extra->slots;
  std::uint8_t* to = touch<Space>(t, i, address_of(t, i), sizeof(T) * slots.size(), true);
  if (to == nullptr) return false;
  for (std::size_t n = 0; n < slots.size(); ++n) {
    const T value = t.get<T>(slots[n]);
    std::memcpy(to + n * sizeof value, &value, sizeof value);
  }
  return true;
}

// Volatile and ordered accesses are seen by other threads of this process.
template <class T, Where Space>
bool load_strong(Thread& t, const Instruction& i) {
  const std::uint8_t* from = touch<Space>(t, i, address_of(t, i), sizeof(T), false);
  if (from == nullptr) return false;
  t.set<T>(i.d, std::bit_cast<T>(__atomic_load_n(reinterpret_cast<const Word<T>*>(from), __ATOMIC_ACQUIRE)));
  return true;
}
template <class T, Where Space>
bool store_strong(Thread& t, const Instruction& i) {
  std::uint8_t* to = touch<Space>(t, i, address_of(t, i), sizeof(T), true);
  if (to == nullptr) return false;
  __atomic_store_n(reinterpret_cast<Word<T>*>(to), std::bit_cast<Word<T>>(t.get<T>(i.b)), __ATOMIC_RELEASE);
  return true;
}

struct Access {
  Where space = Where::kGeneric;
  bool strong = false;
  std::size_t lanes = 1;
  Decoder::Address address;
};

void take_hints(Opcode& opcode) {
  while (!opcode
              .take_any({"nc",
                         "ca",
                         "cg",
                         "cs",
                         "lu",
                         "cv",
                         "wb",
                         "wt",
                         "weak",
                         "L1::evict_normal",
                         "L1::evict_unchanged",
                         "L1::evict_first",
                         "L1::evict_last",
                         "L1::no_allocate",
                         "L2::64B",
                         "L2::128B",
                         "L2::256B",
                         "cta",
                         "cluster",
                         "gpu",
                         "sys",
                         "unified"})
              .empty()) {
  }
}

Access access_of(Decoder& decoder, Opcode& opcode, std::size_t address_operand) {
  Access access;
  while (!opcode.take_any({"volatile", "relaxed", "acquire", "release", "mmio"}).empty())
    access.strong = true;
  const auto space = opcode.take_any(
      {"global", "shared", "shared::cta", "local", "param", "param::entry", "param::func", "const"});
  if (opcode.take("v2")) access.lanes = 2;
  if (opcode.take("v4")) access.lanes = 4;
  take_hints(opcode);
  access.address = decoder.address(address_operand);
  access.space = where_of(space, access.address.frame);
  if (access.space == Where::kParameters && access.address.local) access.space = Where::kLocal;
  if (access.strong) decoder.depends();
  return access;
}

void decode_access(Decoder& decoder, Opcode& opcode, bool loads) {
  const Access access = access_of(decoder, opcode, loads ? 1 : 0);
  const Operand& data = decoder.operand(loads ? 0 : 1);
  const bool vector = data.kind == Operand::Kind::kList;
  const Type type = opcode.type() == Type::kF16 ? Type::kB16 : opcode.type();
  if ((vector ? data.list.size() : 1) != access.lanes) opcode.fail("the number of registers is another");
  std::vector<std::uint32_t> slots;
  if (vector) {
    for (const Operand& each : data.list)
      slots.push_back(loads ? decoder.result(each) : decoder.source(each, type));
  } else {
    slots.push_back(loads ? decoder.result(data) : decoder.source(data, type));
  }
  Instruction& made = decoder.emit(for_space(access.space, [&]<Where Space>() {
    return for_any(type, [&]<class T>(Tag<T>) -> Handler {
      if (vector) return loads ? load_vector<T, Space> : store_vector<T, Space>;
      if (access.strong) return loads ? load_strong<T, Space> : store_strong<T, Space>;
      return loads ? load<T, Space> : store<T, Space>;
    });
  }));
  made.a = access.address.slot;
  made.offset = access.address.offset;
  made.recent = decoder.next_recent();
  if (vector)
    decoder.extra(made).slots = std::move(slots);
  else
    (loads ? made.d : made.b) = slots.front();
}

bool nothing(Thread&, const Instruction&) { return true; }

}  // namespace

Where where_of(std::string_view space, bool frame) {
  if (space == "global" || space == "const") return Where::kGlobal;
  if (space.starts_with("shared")) return Where::kShared;
  if (space == "local") return Where::kLocal;
  if (space.starts_with("param")) return frame ? Where::kFrame : Where::kParameters;
  return Where::kGeneric;
}

void add_memory(Table& table) {
  table["ld"] = [](Decoder& d, Opcode& o) { decode_access(d, o, true); };
  table["ldu"] = [](Decoder& d, Opcode& o) { decode_access(d, o, true); };
  table["st"] = [](Decoder& d, Opcode& o) { decode_access(d, o, false); };
  table["prefetch"] = [](Decoder& d, Opcode& o) {
    while (!o.take_any({"global", "local", "L1", "L2"}).empty()) {
    }
    d.emit(nothing);
  };
  table["prefetchu"] = [](Decoder& d, Opcode& o) {
    o.take("L1");
    d.emit(nothing);
  };
}

}  // namespace standin::ptx
