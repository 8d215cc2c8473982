// mov, special registers, and addresses between the windows of memory.

#include <chrono>

#include "ptx/decode_simple.hpp"

namespace standin::ptx {
namespace {

bool move(Thread& t, const Instruction& i) {
  t.r[i.d] = t.r[i.a];
  return true;
}

/// {a, b} into one word: the first is the lowest.
bool pack(Thread& t, const Instruction& i) {
  const Extra& extra = *i.extra;
  std::uint64_t result = 0;
  const unsigned bits = 64 / static_cast<unsigned>(extra.slots.size()) / (i.option == 32 ? 2 : 1);
  for (std::size_t n = extra.slots.size(); n-- > 0;)
    result = (bits == 64 ? 0 : result << bits) | (t.r[extra.slots[n]] & (~std::uint64_t{0} >> (64 - bits)));
  t.r[i.d] = result;
  return true;
}

bool unpack(Thread& t, const Instruction& i) {
  const Extra& extra = *i.extra;
  const unsigned bits = i.option / static_cast<unsigned>(extra.slots.size());
  const std::uint64_t from = t.r[i.a];
  for (std::size_t n = 0; n < extra.slots.size(); ++n)
    t.r[extra.slots[n]] = from >> (n * bits) & (~std::uint64_t{0} >> (64 - bits));
  return true;
}

void decode_move(Decoder& decoder, Opcode& opcode) {
  const Type type = opcode.type();
  const Operand &to = decoder.operand(0), &from = decoder.operand(1);
  const bool packs = from.kind == Operand::Kind::kList, unpacks = to.kind == Operand::Kind::kList;
  const auto width = static_cast<std::uint32_t>(bits_of(type));
  if (!packs && !unpacks) {
    if (const Handler read = special_register(from.kind == Operand::Kind::kName ? from.name : "")) {
      const std::uint32_t d = decoder.result(to);
      decoder.emit(read).d = d;
      return;
    }
    emit_simple(decoder, move, {type});
    return;
  }
  if (packs && unpacks) opcode.fail("a list into a list is not known");
  std::vector<std::uint32_t> slots;
  for (const Operand& each : packs ? from.list : to.list)
    slots.push_back(packs ? decoder.source(each, type) : decoder.result(each));
  const std::uint32_t other = packs ? decoder.result(to) : decoder.source(from, type);
  Instruction& made = decoder.emit(packs ? pack : unpack);
  (packs ? made.d : made.a) = other;
  made.option = width;
  decoder.extra(made).slots = std::move(slots);
}

template <std::uint64_t Window, bool To>
bool shift_window(Thread& t, const Instruction& i) {
  t.r[i.d] = To ? t.r[i.a] - Window : t.r[i.a] + Window;
  return true;
}

/// Variables of .global and .const lie at generic addresses.
void decode_convert_address(Decoder& decoder, Opcode& opcode) {
  const bool to = opcode.take("to");
  const auto space =
      opcode.take_any({"global", "const", "shared", "shared::cta", "local", "param", "param::entry"});
  Handler handler = nullptr;
  if (space == "global" || space == "const") handler = move;
  if (space.starts_with("shared"))
    handler = to ? shift_window<kSharedWindow, true> : shift_window<kSharedWindow, false>;
  if (space == "local") handler = to ? shift_window<kLocalWindow, true> : shift_window<kLocalWindow, false>;
  if (space.starts_with("param"))
    handler = to ? shift_window<kParameterWindow, true> : shift_window<kParameterWindow, false>;
  emit_simple(decoder, handler, {opcode.type()});
}

template <std::uint64_t Window>
bool in_window(Thread& t, const Instruction& i) {
  t.r[i.d] = (t.r[i.a] >> 56) == (Window >> 56) ? 1 : 0;
  return true;
}

void decode_is_space(Decoder& decoder, Opcode& opcode) {
  const auto space = opcode.take_any({"global", "shared", "shared::cta", "local", "param", "param::entry"});
  Handler handler = in_window<0>;
  if (space.starts_with("shared")) handler = in_window<kSharedWindow>;
  if (space == "local") handler = in_window<kLocalWindow>;
  if (space.starts_with("param")) handler = in_window<kParameterWindow>;
  emit_simple(decoder, handler, {Type::kU64});
}

struct Special {
  std::string_view name;
  Handler read;
};

template <Dim Thread::* Where, std::uint32_t Dim::* Axis>
bool of_thread(Thread& t, const Instruction& i) {
  t.r[i.d] = t.*Where.*Axis;
  return true;
}
template <Dim Block::* Where, std::uint32_t Dim::* Axis>
bool of_block(Thread& t, const Instruction& i) {
  t.r[i.d] = t.block->*Where.*Axis;
  return true;
}
template <class Read>
constexpr Handler computed(Read) {
  return [](Thread& t, const Instruction& i) {
    t.r[i.d] = static_cast<std::uint64_t>(Read{}(t));
    return true;
  };
}
std::uint64_t nanoseconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}
std::uint64_t lane(const Thread& t) { return t.number % 32; }

const Special kSpecials[] = {
    {"%tid.x", of_thread<&Thread::index, &Dim::x>},
    {"%tid.y", of_thread<&Thread::index, &Dim::y>},
    {"%tid.z", of_thread<&Thread::index, &Dim::z>},
    {"%ntid.x", of_block<&Block::size, &Dim::x>},
    {"%ntid.y", of_block<&Block::size, &Dim::y>},
    {"%ntid.z", of_block<&Block::size, &Dim::z>},
    {"%ctaid.x", of_block<&Block::index, &Dim::x>},
    {"%ctaid.y", of_block<&Block::index, &Dim::y>},
    {"%ctaid.z", of_block<&Block::index, &Dim::z>},
    {"%nctaid.x", of_block<&Block::grid, &Dim::x>},
    {"%nctaid.y", of_block<&Block::grid, &Dim::y>},
    {"%nctaid.z", of_block<&Block::grid, &Dim::z>},
    {"%laneid", computed([](const Thread& t) { return lane(t); })},
    {"%warpid", computed([](const Thread& t) { return t.number / 32; })},
    {"%nwarpid", computed([](const Thread& t) {
       return (t.block->size.x * t.block->size.y * t.block->size.z + 31) / 32;
     })},
    {"%smid", computed([](const Thread&) { return 0; })},
    {"%nsmid", computed([](const Thread&) { return 1; })},
    {"%gridid", computed([](const Thread&) { return 0; })},
    {"%lanemask_eq", computed([](const Thread& t) { return std::uint64_t{1} << lane(t); })},
    {"%lanemask_lt", computed([](const Thread& t) { return (std::uint64_t{1} << lane(t)) - 1; })},
    {"%lanemask_le", computed([](const Thread& t) { return (std::uint64_t{2} << lane(t)) - 1; })},
    {"%lanemask_gt", computed([](const Thread& t) { return 0x100000000u - (std::uint64_t{2} << lane(t)); })},
    {"%lanemask_ge", computed([](const Thread& t) { return 0x100000000u - (std::uint64_t{1} << lane(t)); })},
    {"%clock", computed([](const Thread&) { return nanoseconds() & 0xffffffffu; })},
    {"%clock64", computed([](const Thread&) { return nanoseconds(); })},
    {"%globaltimer", computed([](const Thread&) { return nanoseconds(); })},
    {"%globaltimer_lo", computed([](const Thread&) { return nanoseconds() & 0xffffffffu; })},
    {"%globaltimer_hi", computed([](const Thread&) { return nanoseconds() >> 32; })},
    {"%total_smem_size", computed([](const Thread& t) { return t.block->shared.size(); })},
};

}  // namespace

Handler special_register(std::string_view name) {
  if (!name.starts_with('%')) return nullptr;
  for (const Special& each : kSpecials)
    if (each.name == name) return each.read;
  return nullptr;
}

void add_move(Table& table) {
  table["mov"] = decode_move;
  table["cvta"] = decode_convert_address;
  table["isspacep"] = decode_is_space;
}

}  // namespace standin::ptx
