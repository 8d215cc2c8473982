// The decoder: places variables, walks the statements, resolves labels.

#include <algorithm>
#include <set>

#include "ptx/decoder.hpp"

namespace standin::ptx {
namespace {

struct NamedType {
  std::string_view name;
  Type type;
  int bits;
};
constexpr NamedType kTypes[] = {
    {"pred", Type::kPred, 1}, {"b8", Type::kB8, 8},    {"u8", Type::kU8, 8},    {"s8", Type::kS8, 8},
    {"b16", Type::kB16, 16},  {"u16", Type::kU16, 16}, {"s16", Type::kS16, 16}, {"f16", Type::kF16, 16},
    {"b32", Type::kB32, 32},  {"u32", Type::kU32, 32}, {"s32", Type::kS32, 32}, {"f32", Type::kF32, 32},
    {"b64", Type::kB64, 64},  {"u64", Type::kU64, 64}, {"s64", Type::kS64, 64}, {"f64", Type::kF64, 64},
};

const Table& table() {
  static const Table the_table = [] {
    Table made;
    for (auto* add : {add_integer, add_carry, add_bits, add_float, add_compare, add_convert, add_move,
                      add_memory, add_atomic, add_control, add_warp})
      add(made);
    return made;
  }();
  return the_table;
}

std::size_t round_up(std::size_t value, std::size_t to) { return (value + to - 1) / to * to; }

/// The names of the function's statements, to see which variables of the module it uses.
void collect(const Operand& operand, std::set<std::string, std::less<>>& names) {
  if (!operand.name.empty()) names.insert(operand.name);
  for (const Operand& each : operand.list) collect(each, names);
}

}  // namespace

std::optional<Type> type_named(std::string_view name) {
  for (const auto& each : kTypes)
    if (each.name == name) return each.type;
  return std::nullopt;
}

int bits_of(Type type) {
  for (const auto& each : kTypes)
    if (each.type == type) return each.bits;
  return 0;
}

Opcode::Opcode(std::string_view text, int line) : text_(text), line_(line) {
  std::size_t at = text.find('.');
  base_ = text.substr(0, at);
  while (at != std::string_view::npos) {
    const std::size_t end = text.find('.', at + 1);
    const auto part = text.substr(at + 1, end == std::string_view::npos ? end : end - at - 1);
    if (const auto type = type_named(part))
      types_.push_back(*type);
    else
      modifiers_.emplace_back(part);
    at = end;
  }
}

bool Opcode::take(std::string_view modifier) {
  const auto found = std::find(modifiers_.begin(), modifiers_.end(), modifier);
  if (found == modifiers_.end()) return false;
  modifiers_.erase(found);
  return true;
}

std::string_view Opcode::take_any(std::initializer_list<std::string_view> modifiers) {
  for (const auto each : modifiers)
    if (take(each)) return each;
  return {};
}

void Opcode::done() const {
  if (!modifiers_.empty()) fail("'." + modifiers_.front() + "' is not known");
}

void Opcode::fail(const std::string& what) const {
  throw Error(line_, "instruction '" + text_ + "': " + what);
}

Program decode(const Module& module, const Addresses& addresses) {
  Program program;
  for (const Function& each : module.functions) {
    auto code = std::make_unique<Code>();
    code->name = each.name;
    code->entry = each.entry;
    program.functions[each.name] = std::move(code);
  }
  // Calls copy parameters, so their places must be known before any body is read.
  for (const Function& each : module.functions) {
    Code& code = *program.functions.find(each.name)->second;
    std::size_t end = 0;
    for (auto [variables, places] :
         {std::pair(&each.returns, &code.returns), {&each.parameters, &code.parameters}})
      for (const Variable& variable : *variables) {
        end = round_up(end, variable.align_bytes);
        places->push_back({end, variable.size_bytes});
        end += variable.size_bytes;
      }
    (each.entry ? code.parameter_bytes : code.local_bytes) = end;
  }
  for (const Function& each : module.functions)
    if (each.body)
      Decoder(module, addresses, program).function(each, *program.functions.find(each.name)->second);
  return program;
}

void Decoder::function(const Function& function, Code& code) {
  function_ = &function;
  code_ = &code;
  code.most_threads = function.most_threads;
  bits_ = function.register_bits;
  place_variables();
  std::vector<std::size_t> starts;
  for (const Statement& each : function.statements) {
    starts.push_back(code.instructions.size());
    statement(each);
  }
  Statement end;
  end.line = function.line;
  end.opcode = "ret";
  starts.push_back(code.instructions.size());
  statement(end);
  finish(starts);
}

bool Decoder::defined(std::string_view name) const {
  return std::any_of(module_.functions.begin(), module_.functions.end(),
                     [&](const Function& each) { return each.name == name && each.body; });
}

std::size_t Decoder::place(const Variable& variable, std::size_t& end) {
  const std::size_t begin = round_up(end, variable.align_bytes);
  end = begin + variable.size_bytes;
  return begin;
}

void Decoder::place_variables() {
  for (const Variable& each : module_.variables)
    if (const auto found = addresses_.find(each.name); found != addresses_.end())
      placed_[each.name] = {each.space, found->second, each.size_bytes};
  for (std::size_t i = 0; i < function_->returns.size(); ++i)
    placed_[function_->returns[i].name] = {Space::kParam, code_->returns[i].offset,
                                           code_->returns[i].size_bytes, true};
  for (std::size_t i = 0; i < function_->parameters.size(); ++i)
    placed_[function_->parameters[i].name] = {Space::kParam, code_->parameters[i].offset,
                                              code_->parameters[i].size_bytes, !function_->entry};
  place_shared();
  for (const Variable& each : function_->variables) {
    if (each.space == Space::kLocal)
      placed_[each.name] = {each.space, place(each, code_->local_bytes), each.size_bytes};
    else if (each.space == Space::kParam)
      placed_[each.name] = {each.space, place(each, code_->local_bytes), each.size_bytes, true};
  }
}

namespace {

std::set<std::string, std::less<>> names_in(const Function& function) {
  std::set<std::string, std::less<>> used;
  for (const Statement& statement : function.statements)
    for (const Operand& each : statement.operands) collect(each, used);
  return used;
}

bool calls(const Function& function) {
  return std::any_of(function.statements.begin(), function.statements.end(), [](const Statement& each) {
    return each.opcode == "call" || each.opcode.starts_with("call.");
  });
}

}  // namespace

/// The module's shared variables that called functions use lie at the begin of shared memory, in every block of an entry that calls.
void Decoder::place_common() {
  std::size_t end = 0;
  for (const Function& function : module_.functions) {
    if (function.entry) continue;
    const auto used = names_in(function);
    for (const Variable& each : module_.variables)
      if (each.space == Space::kShared && each.size_bytes > 0 && used.contains(each.name) &&
          !common_.contains(each.name))
        common_[each.name] = {each.space, place(each, end), each.size_bytes};
  }
  if (function_->entry && calls(*function_)) code_->shared_bytes = end;
}

void Decoder::place_shared() {
  place_common();
  const auto used = names_in(*function_);
  std::vector<const Variable*> open;
  for (const auto* variables : {&module_.variables, &function_->variables})
    for (const Variable& each : *variables) {
      if (each.space != Space::kShared || !used.contains(each.name)) continue;
      const auto common = common_.find(each.name);
      if (common != common_.end() && (!function_->entry || calls(*function_))) {
        placed_[each.name] = common->second;
        continue;
      }
      if (!function_->entry)
        throw Error(each.line, "shared variable '" + each.name + "' in a function that is called");
      if (each.size_bytes == 0)
        open.push_back(&each);
      else
        placed_[each.name] = {each.space, place(each, code_->shared_bytes), each.size_bytes};
    }
  code_->shared_bytes = round_up(code_->shared_bytes, open.empty() ? 1 : 16);
  for (const Variable* each : open) placed_[each->name] = {each->space, code_->shared_bytes, 0};
}

void Decoder::statement(const Statement& statement) {
  statement_ = &statement;
  Opcode opcode(statement.opcode, statement.line);
  const auto found = table().find(opcode.base());
  if (found == table().end()) opcode.fail("not known");
  found->second(*this, opcode);
  opcode.done();
}

Instruction& Decoder::prepare(Handler handler) {
  if (handler == nullptr)
    throw Error(statement_->line, "instruction '" + statement_->opcode + "' has a type that is not known");
  Instruction made;
  made.run = handler;
  made.line = statement_->line;
  code_->instructions.push_back(made);
  return code_->instructions.back();
}

Instruction& Decoder::emit(Handler handler) {
  Instruction& made = prepare(handler);
  made.guard = static_cast<std::uint32_t>(statement_->guard);
  made.guard_value = statement_->guard_negated ? 0 : 1;
  return made;
}

Extra& Decoder::extra(Instruction& instruction) {
  code_->extras.push_back(std::make_unique<Extra>());
  instruction.extra = code_->extras.back().get();
  return *code_->extras.back();
}

void Decoder::branch_to(Instruction& instruction, const std::string& label) {
  const auto number = static_cast<std::size_t>(&instruction - code_->instructions.data());
  const auto table = function_->targets.find(label);
  if (table == function_->targets.end()) {
    jumps_.push_back({number, static_cast<std::size_t>(-1), label});
    return;
  }
  extra(instruction);
  for (std::size_t i = 0; i < table->second.size(); ++i) jumps_.push_back({number, i, table->second[i]});
}

void Decoder::finish(const std::vector<std::size_t>& starts) {
  for (const Jump& jump : jumps_) {
    const auto label = function_->labels.find(jump.label);
    if (label == function_->labels.end())
      throw Error(function_->line, "label '" + jump.label + "' is missing");
    Instruction& from = code_->instructions[jump.instruction];
    const Instruction* to = code_->instructions.data() + starts[label->second];
    if (jump.slot == static_cast<std::size_t>(-1)) {
      from.target = to;
      continue;
    }
    auto& targets = const_cast<Extra*>(from.extra)->targets;
    targets.resize(std::max(targets.size(), jump.slot + 1));
    targets[jump.slot] = to;
  }
  code_->slots = static_cast<std::uint32_t>(bits_.size()) + extra_slots_;
  for (const auto& [bits, slot] : constants_) code_->constants.emplace_back(slot, bits);
}

}  // namespace standin::ptx
