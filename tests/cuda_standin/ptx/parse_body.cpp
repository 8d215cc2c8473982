// The body of a function: declarations, labels, statements. Names are looked up from the innermost braces outwards.

#include <algorithm>
#include <charconv>

#include "ptx/parser.hpp"

namespace standin::ptx {

void Parser::body(Function& function) {
  scopes_.clear();
  scope(function);
}

void Parser::scope(Function& function) {
  expect("{");
  scopes_.emplace_back();
  ++scopes_seen_;
  while (!accept("}")) {
    if (peek().kind == Token::Kind::kEnd) fail("'}' is missing");
    if (peek().is("{"))
      scope(function);
    else if (!declaration(function))
      statement(function);
  }
  scopes_.pop_back();
}

bool Parser::declaration(Function& function) {
  if (peek(1).is(":") && peek().kind == Token::Kind::kWord) {
    const std::string label(next().text);
    next();
    if (accept(".branchtargets")) {
      auto& targets = function.targets[label];
      do targets.emplace_back(next().text);
      while (accept(","));
      expect(";");
    } else if (!function.labels.emplace(label, function.statements.size()).second) {
      fail("label '" + label + "' again");
    }
    return true;
  }
  if (accept(".reg")) {
    registers(function);
    return true;
  }
  if (accept(".pragma")) {
    next();
    expect(";");
    return true;
  }
  const bool shared = peek().is(".shared"), local = peek().is(".local"), param = peek().is(".param");
  if (!shared && !local && !param) return false;
  next();
  do {
    Variable made = variable(shared ? Space::kShared : local ? Space::kLocal : Space::kParam, false);
    const std::string name = made.name;
    if (scopes_.size() > 1) made.name.append(1, '#').append(std::to_string(scopes_seen_));
    scopes_.back().variables[name] = made.name;
    function.variables.push_back(std::move(made));
  } while (accept(","));
  expect(";");
  return true;
}

void Parser::registers(Function&) {
  const std::string_view type = next().text;
  const int bits = type == ".pred" ? 1 : static_cast<int>(bytes_of_type(type)) * 8;
  if (bits == 0) fail("unknown type of a register");
  do {
    const std::string name(next().text);
    Scope::Registers made{bits, -1, {}};
    if (accept("<")) {
      made.count = static_cast<int>(integer());
      expect(">");
    }
    scopes_.back().registers[name] = made;
  } while (accept(","));
  expect(";");
}

/// The register's slot, which it gets when it is first used; 0 if the name is no register.
int Parser::slot_of(Function& function, std::string_view name) {
  std::string_view stem = name;
  while (!stem.empty() && stem.back() >= '0' && stem.back() <= '9') stem.remove_suffix(1);
  int number = -1;
  std::from_chars(name.data() + stem.size(), name.data() + name.size(), number);
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    auto found = scope->registers.find(name);
    int key = -1;
    if (found == scope->registers.end() || found->second.count >= 0) {
      found = scope->registers.find(stem);
      key = number;
      if (found == scope->registers.end() || number < 0 || number >= found->second.count) continue;
    }
    auto [slot, fresh] =
        found->second.slots.try_emplace(key, static_cast<int>(function.register_bits.size()));
    if (fresh) function.register_bits.push_back(found->second.bits);
    return slot->second;
  }
  return 0;
}

void Parser::statement(Function& function) {
  Statement made;
  made.line = peek().line;
  if (accept("@")) {
    made.guard_negated = accept("!");
    made.guard = slot_of(function, next().text);
    if (made.guard == 0) fail("unknown predicate");
  }
  if (peek().kind != Token::Kind::kWord) fail("expected an instruction");
  made.opcode = next().text;
  while (!accept(";")) {
    made.operands.push_back(operand(function));
    if (!peek().is(";")) expect(",");
  }
  function.statements.push_back(std::move(made));
}

Operand Parser::operand(Function& function) {
  if (accept("[")) return address(function);
  if (accept("{")) return list(function, "}");
  if (accept("(")) return list(function, ")");
  Operand result;
  if (accept("!")) {
    result = operand(function);
    result.negated = true;
  } else if (accept("-")) {
    result = number();
    result.value = ~result.value + 1;
  } else if (peek().kind == Token::Kind::kNumber) {
    result = number();
  } else if (peek().kind == Token::Kind::kWord) {
    result = named(function, next().text);
    if (accept("+")) result.value = static_cast<std::uint64_t>(integer());
  } else {
    fail("expected an operand");
  }
  if (accept("|")) result.second.push_back(operand(function));
  return result;
}

Operand Parser::list(Function& function, std::string_view close) {
  Operand result;
  result.kind = Operand::Kind::kList;
  while (!accept(close)) {
    result.list.push_back(operand(function));
    accept(",");
  }
  return result;
}

/// [%rd1], [%rd1+4], [symbol], [symbol+4], [16]
Operand Parser::address(Function& function) {
  Operand result;
  if (peek().kind == Token::Kind::kWord) {
    result = named(function, next().text);
    result.has_register = result.kind == Operand::Kind::kRegister;
  }
  result.kind = Operand::Kind::kAddress;
  if (accept("+") || !peek().is("]")) result.value = static_cast<std::uint64_t>(integer());
  expect("]");
  return result;
}

Operand Parser::named(Function& function, std::string_view name) {
  Operand result;
  result.slot = slot_of(function, name);
  if (result.slot != 0) {
    result.kind = Operand::Kind::kRegister;
    return result;
  }
  result.name = name;
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
    if (const auto found = scope->variables.find(name); found != scope->variables.end()) {
      result.name = found->second;
      break;
    }
  return result;
}

}  // namespace standin::ptx
