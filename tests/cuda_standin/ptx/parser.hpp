#pragma once
// The parser of PTX text, in three parts: the module (parser.cpp), its variables (parse_variable.cpp), and the bodies
// of its functions (parse_body.cpp).

#include <string>
#include <vector>

#include "ptx/lexer.hpp"
#include "ptx/syntax.hpp"

namespace standin::ptx {

/// The bytes of a type (".u32"), 0 if it is none.
std::size_t bytes_of_type(std::string_view type);

class Parser {
 public:
  explicit Parser(std::string_view text) : tokens_(tokens_of(text)) {}
  Module module();

 private:
  /// Names of one pair of braces.
  struct Scope {
    std::map<std::string, std::string, std::less<>> variables;  // to the name that tells them apart
    struct Registers {
      int bits = 0;
      int count = -1;  // of %r<count>; -1 for a single one
      std::map<int, int> slots;
    };
    std::map<std::string, Registers, std::less<>> registers;
  };

  const Token& peek(std::size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  const Token& next() { return tokens_[at_ < tokens_.size() - 1 ? at_++ : at_]; }
  bool accept(std::string_view what);
  void expect(std::string_view what);
  [[noreturn]] void fail(const std::string& what) const;
  void skip_braces();

  void section(Module& module);
  void function(Module& module, bool entry);
  std::vector<Variable> parameter_list();
  void directives(Function& function);

  Variable variable(Space space, bool external);
  void type_and_name(Variable& variable, std::size_t& element_bytes);
  void dimensions(Variable& variable, std::size_t element_bytes);
  void initial_values(Variable& variable, std::size_t element_bytes, bool is_float);
  void initial_value(Variable& variable, std::size_t element_bytes, std::size_t& offset);
  std::int64_t integer();

  void body(Function& function);
  void scope(Function& function);
  bool declaration(Function& function);
  void registers(Function& function);
  void statement(Function& function);
  Operand operand(Function& function);
  Operand address(Function& function);
  Operand list(Function& function, std::string_view close);
  Operand named(Function& function, std::string_view name);
  Operand number();
  int slot_of(Function& function, std::string_view name);

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  std::vector<Scope> scopes_;
  int scopes_seen_ = 0;
};

}  // namespace standin::ptx
