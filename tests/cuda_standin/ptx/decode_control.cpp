// Branches, calls, ends, barriers and fences.

#include <cuda.h>

#include <cstdio>
#include <thread>

#include "ptx/decode_simple.hpp"
#include "ptx/touch.hpp"

namespace standin::ptx {
namespace {

bool branch(Thread& t, const Instruction& i) {
  t.next = i.target;
  return true;
}

bool branch_by_table(Thread& t, const Instruction& i) {
  const auto& targets = i.extra->targets;
  const auto choice = t.get<std::uint32_t>(i.a);
  if (choice >= targets.size()) return t.fail(CUDA_ERROR_ILLEGAL_INSTRUCTION, "a branch leaves its table", i);
  t.next = targets[choice];
  return true;
}

bool call(Thread& t, const Instruction& i) {
  t.enter(*i.extra->callee, i);
  return true;
}

bool leave(Thread& t, const Instruction&) { return t.leave(); }

bool end(Thread& t, const Instruction&) {
  t.status = Status::kExited;
  return false;
}

bool trap(Thread& t, const Instruction& i) { return t.fail(CUDA_ERROR_LAUNCH_FAILED, "trap", i); }

/// printf in a kernel: its text is not wanted in tests. The result is 0.
bool ignore(Thread& t, const Instruction& i) {
  for (const auto& each : i.extra->results) std::memset(t.frame_bytes() + each.to, 0, each.size_bytes);
  return true;
}

/// Tells the text of a failed assert().
bool assertion(Thread& t, const Instruction& i) {
  std::uint64_t at = 0;
  if (!i.extra->arguments.empty())
    std::memcpy(&at, t.frame_bytes() + i.extra->arguments.front().from, sizeof at);
  std::string text = "assertion failed: ";
  for (; text.size() < 200; ++at) {
    const auto piece = t.block->reach.at(at, false);
    if (piece.bytes == nullptr || *piece.bytes == 0) break;
    text += static_cast<char>(*piece.bytes);
  }
  return t.fail(CUDA_ERROR_ASSERT, text, i);
}

bool barrier(Thread& t, const Instruction& i) { return t.wait(Status::kBarrier, i); }

bool fence(Thread&, const Instruction&) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  return true;
}

bool sleep(Thread&, const Instruction&) {
  std::this_thread::yield();
  return true;
}

bool nothing(Thread&, const Instruction&) { return true; }

void decode_branch(Decoder& decoder, Opcode& opcode) {
  opcode.take("uni");
  decoder.branch_to(decoder.emit(branch), decoder.operand(0).name);
}

void decode_branch_by_table(Decoder& decoder, Opcode& opcode) {
  opcode.take("uni");
  if (!opcode.take("idx")) opcode.fail("only brx.idx is known");
  const std::uint32_t a = decoder.source(0, Type::kU32);
  Instruction& made = decoder.emit(branch_by_table);
  made.a = a;
  decoder.branch_to(made, decoder.operand(1).name);
}

std::vector<Extra::Passed> passed(Decoder& decoder, Opcode& opcode, const std::vector<Operand>& names,
                                  const std::vector<Parameter>& places, bool results) {
  std::vector<Extra::Passed> list;
  if (names.size() != places.size()) opcode.fail("the number of parameters is another");
  for (std::size_t n = 0; n < names.size(); ++n) {
    const auto* variable = decoder.placed(names[n].name);
    if (variable == nullptr || !variable->frame) opcode.fail("only .param variables can be passed");
    const auto here = static_cast<std::uint32_t>(variable->address),
               there = static_cast<std::uint32_t>(places[n].offset);
    list.push_back(
        {results ? there : here, results ? here : there, static_cast<std::uint32_t>(places[n].size_bytes)});
  }
  return list;
}

void decode_call(Decoder& decoder, Opcode& opcode) {
  opcode.take("uni");
  const std::vector<Operand> none;
  const bool returns = decoder.operand(0).kind == Operand::Kind::kList;
  const Operand& name = decoder.operand(returns ? 1 : 0);
  const std::size_t list = returns ? 2 : 1;
  const auto& arguments = decoder.operands() > list ? decoder.operand(list).list : none;
  const auto found = decoder.program().functions.find(name.name);
  if (found == decoder.program().functions.end()) opcode.fail("only calls of known functions are supported");
  const Code& callee = *found->second;
  Handler handler = call;
  if (name.name == "vprintf") handler = ignore;
  if (name.name == "__assertfail") handler = assertion;
  if (handler == call && !decoder.defined(name.name)) opcode.fail("'" + name.name + "' has no body");
  Instruction& made = decoder.emit(handler);
  Extra& extra = decoder.extra(made);
  extra.callee = &callee;
  extra.arguments = passed(decoder, opcode, arguments, callee.parameters, false);
  extra.results = passed(decoder, opcode, returns ? decoder.operand(0).list : none, callee.returns, true);
  if (handler == call) decoder.depends();
}

/// bar.sync a{, b};  bar.red.op{.type} d, a{, b}, {!}p;  bar.warp.sync mask
void decode_barrier(Decoder& decoder, Opcode& opcode) {
  opcode.take("cta");
  opcode.take("aligned");
  decoder.depends();
  if (opcode.take("warp")) {
    opcode.take("sync");
    decode_warp_barrier(decoder);
    return;
  }
  if (opcode.take("sync")) {
    const std::uint32_t a = decoder.source(0, Type::kU32);
    const std::uint32_t b = decoder.operands() > 1 ? decoder.source(1, Type::kU32) : 0;
    Instruction& made = decoder.emit(barrier);
    made.a = a, made.b = b;
    return;
  }
  if (!opcode.take("red")) opcode.fail("only .sync and .red are known");
  const auto which = opcode.take_any({"popc", "and", "or"});
  const std::size_t last = decoder.operands() - 1;
  const std::uint32_t d = decoder.result(0), a = decoder.source(1, Type::kU32);
  const std::uint32_t b = last > 2 ? decoder.source(2, Type::kU32) : 0;
  const std::uint32_t c = decoder.source(last, Type::kPred);
  Instruction& made = decoder.emit(barrier);
  made.d = d, made.a = a, made.b = b, made.c = c;
  made.option = which == "popc" ? 1 : which == "and" ? 2 : 3;
}

void decode_fence(Decoder& decoder, Opcode& opcode) {
  while (!opcode.take_any({"sc", "acq_rel", "acquire", "release", "cta", "cluster", "gpu", "sys", "gl"})
              .empty()) {
  }
  decoder.emit(fence);
  decoder.depends();
}

template <bool (*Handle)(Thread&, const Instruction&)>
void decode_plain(Decoder& decoder, Opcode&) {
  decoder.emit(Handle);
}

}  // namespace

void add_control(Table& table) {
  table["bra"] = decode_branch;
  table["brx"] = decode_branch_by_table;
  table["call"] = decode_call;
  table["ret"] = [](Decoder& d, Opcode& o) {
    o.take("uni");
    d.emit(leave);
  };
  table["exit"] = decode_plain<end>;
  table["trap"] = decode_plain<trap>;
  table["brkpt"] = decode_plain<nothing>;
  table["pmevent"] = [](Decoder& d, Opcode& o) {
    o.take("mask");
    d.emit(nothing);
  };
  table["bar"] = decode_barrier;
  table["barrier"] = decode_barrier;
  table["membar"] = decode_fence;
  table["fence"] = decode_fence;
  table["nanosleep"] = [](Decoder& d, Opcode&) {
    d.emit(sleep);
    d.depends();
  };
}

}  // namespace standin::ptx
