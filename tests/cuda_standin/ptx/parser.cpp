// The module: versions, variables, functions.

#include "ptx/parser.hpp"

#include <algorithm>

namespace standin::ptx {

bool Parser::accept(std::string_view what) {
  if (!peek().is(what)) return false;
  next();
  return true;
}

void Parser::expect(std::string_view what) {
  if (!accept(what)) fail("expected '" + std::string(what) + "'");
}

void Parser::fail(const std::string& what) const {
  throw Error(peek().line, what + " at '" + std::string(peek().text) + "'");
}

void Parser::skip_braces() {
  expect("{");
  for (int depth = 1; depth > 0;) {
    const Token& token = next();
    if (token.kind == Token::Kind::kEnd) fail("'}' is missing");
    depth += token.is("{") ? 1 : token.is("}") ? -1 : 0;
  }
}

Module Parser::module() {
  Module module;
  while (peek().kind != Token::Kind::kEnd) section(module);
  return module;
}

void Parser::section(Module& module) {
  bool external = false;
  while (peek().is(".visible") || peek().is(".weak") || peek().is(".common") || peek().is(".extern"))
    external = next().is(".extern") || external;
  if (accept(".version")) {
    next();
  } else if (accept(".target")) {
    do next();
    while (accept(","));
  } else if (accept(".address_size")) {
    if (next().text != "64") fail("only 64-bit addresses are supported");
  } else if (accept(".section")) {
    next();
    skip_braces();
  } else if (accept(".pragma")) {
    next();
    expect(";");
  } else if (accept(".entry")) {
    function(module, true);
  } else if (accept(".func")) {
    function(module, false);
  } else if (peek().is(".global") || peek().is(".const") || peek().is(".shared")) {
    const auto word = next().text;
    const Space space = word == ".global"  ? Space::kGlobal
                        : word == ".const" ? Space::kConst
                                           : Space::kShared;
    do module.variables.push_back(variable(space, external));
    while (accept(","));
    expect(";");
  } else {
    fail("unknown directive");
  }
}

std::vector<Variable> Parser::parameter_list() {
  std::vector<Variable> list;
  expect("(");
  while (!accept(")")) {
    if (!accept(".param")) fail("only .param parameters are supported");
    list.push_back(variable(Space::kParam, false));
    accept(",");
  }
  return list;
}

void Parser::directives(Function& function) {
  while (!peek().is("{") && !peek().is(";")) {
    if (accept(".maxntid") || accept(".reqntid")) {
      unsigned most = 1;
      do most *= static_cast<unsigned>(integer());
      while (accept(","));
      function.most_threads = std::min(function.most_threads, most);
    } else if (accept(".minnctapersm") || accept(".maxnreg") || accept(".maxnctapersm")) {
      integer();
    } else if (!accept(".noreturn")) {
      fail("unknown directive of a function");
    }
  }
}

void Parser::function(Module& module, bool entry) {
  Function function;
  function.entry = entry;
  function.line = peek().line;
  function.register_bits.push_back(0);
  if (peek().is("(")) function.returns = parameter_list();
  function.name = next().text;
  if (peek().is("(")) function.parameters = parameter_list();
  directives(function);
  if (!accept(";")) {
    function.body = true;
    body(function);
  }
  // A function may be declared before it is defined.
  const auto same = std::find_if(module.functions.begin(), module.functions.end(),
                                 [&](const Function& each) { return each.name == function.name; });
  if (same == module.functions.end())
    module.functions.push_back(std::move(function));
  else if (function.body)
    *same = std::move(function);
}

Module parse(std::string_view text) { return Parser(text).module(); }

}  // namespace standin::ptx
