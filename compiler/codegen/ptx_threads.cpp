#include <algorithm>

#include "codegen/ptx_instructions.hpp"

namespace nuna::compiler {

namespace {

using ptx::Instruction;
using ptx::Operand;

/// Barrier 0 of all threads is the block's.
void barrier(PtxBuilder& to, const Instruction& in) {
  if (in.has("warp")) {
    in.expect(1, {"warp", "sync"});
    to.call_word("__nuna_asm_warp_barrier", {to.read_word(in.operands[0])});
    return;
  }
  const bool counts = in.has("red");
  const std::size_t place = counts ? 1 : 0;
  const auto& operands = in.operands;
  in.expect(counts ? 3 : 1, {"cta", "sync", "red", "aligned", "popc", "and", "or"});
  const auto* which = llvm::dyn_cast<llvm::ConstantInt>(to.read_word(operands[place]));
  if (which == nullptr || !which->isZero()) throw ptx::Unknown(in.text + " of another barrier than 0");
  if (!counts) {
    to.call("__nuna_asm_barrier", to.at.getVoidTy(), {});
    return;
  }
  auto* yes = to.as_word(to.read_predicate(operands[2]));
  if (in.has("popc")) return to.write(operands[0], to.call_word("__nuna_asm_barrier_popc", {yes}));
  if (!in.has("and") && !in.has("or")) in.refuse();
  const char* function = in.has("and") ? "__nuna_asm_barrier_and" : "__nuna_asm_barrier_or";
  to.write(operands[0], to.as_predicate(to.call_word(function, {yes})));
}

/// shfl.mode.b32 d|p, a, b, c, mask: b says which lane, c the segments (ptx.h). Without a mask it is of those that come together.
void shuffle(PtxBuilder& to, const Instruction& in) {
  const bool sync = in.has("sync");
  in.expect(sync ? 5 : 4, {"sync", "up", "down", "bfly", "idx"});
  for (const char* mode : {"up", "down", "bfly", "idx"}) {
    if (!in.has(mode)) continue;
    auto* value = to.read_word(in.operands[1]);
    auto* by = to.read_word(in.operands[2]);
    auto* segments = to.read_word(in.operands[3]);
    auto* mask = sync ? to.read_word(in.operands[4]) : to.at.getInt32(0);
    to.write_second(in.operands[0],
                    to.as_predicate(to.call_word("__nuna_asm_inside_" + llvm::Twine(mode), {by, segments})));
    return to.write(in.operands[0],
                    to.call_word("__nuna_asm_shuffle_" + llvm::Twine(mode), {mask, value, by, segments}));
  }
  in.refuse();
}

void jump(PtxBuilder& to, const Instruction& in) {
  in.expect(1, {"uni"});
  to.at.CreateBr(to.label(in.operands[0].name));
  if (in.guard.empty()) to.enter(to.new_block());
}

/// "shfl.sync.up" and "shfl.up.sync" are the same.
std::string helper_name(const Instruction& in) {
  std::string name = in.name;
  if (in.has("sync")) name += "_sync";
  for (const auto& word : in.words) {
    if (word != "sync" && word != "ftz" && word != "approx") name += "_" + word;
  }
  for (const auto& type : in.types) {
    const char kinds[] = {'b', 's', 'u', 'f', 'p'};
    name += "_" + (type.kind == ptx::Kind::predicate
                       ? std::string("pred")
                       : kinds[static_cast<int>(type.kind)] + std::to_string(type.width));
    if (type.pair) name += "x2";
  }
  return name;
}

}  // namespace

bool build_ptx_threads(PtxBuilder& to, const Instruction& in) {
  if (in.name == "bar" || in.name == "barrier") {
    barrier(to, in);
  } else if (in.name == "shfl") {
    shuffle(to, in);
  } else if (in.name == "bra") {
    jump(to, in);
  } else if (in.name == "exit") {
    in.expect(0, {});
    to.end_thread();
  } else if (in.name == "trap") {
    in.expect(0, {});
    to.call("__nuna_asm_trap", to.at.getVoidTy(), {});
  } else if (in.name == "nanosleep") {
    to.call("__nuna_asm_nanosleep", to.at.getVoidTy(), {});
  } else {
    return in.name == "brkpt" || in.name == "pmevent";
  }
  return true;
}

bool build_ptx_helper(PtxBuilder& to, const Instruction& in) {
  const auto* function = to.helper(helper_name(in));
  if (function == nullptr) return false;
  const bool bare =
      !in.has("sync") && (in.name == "vote" || in.name == "match");  // of the lanes that come together
  if (function->arg_size() + 1 != in.operands.size() + (bare ? 1 : 0))
    in.expect(function->arg_size() + 1, {});
  std::vector<llvm::Value*> arguments;
  for (unsigned i = 0; i < function->arg_size(); ++i) {
    auto* type = function->getArg(i)->getType();
    const bool mask = bare && i + 1 == function->arg_size();
    arguments.push_back(mask ? to.at.getInt32(0) : to.read(in.operands[i + 1], type));
  }
  auto* result = to.call(function->getName(), function->getReturnType(), arguments);
  to.write(in.operands[0], result, !in.types.empty() && in.types[0].is_signed());
  if (in.operands[0].second.empty()) return true;
  if (in.name != "match") in.refuse();
  to.write_second(in.operands[0], to.as_predicate(result));
  return true;
}

}  // namespace nuna::compiler
