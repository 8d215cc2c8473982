#pragma once
// The text of inline PTX, cut into instructions. Pure.

#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace nuna::compiler::ptx {

/// PTX that is not translated; the text says which, as the object of "does not translate".
struct Unknown : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class Kind { bits, sign, unsign, real, predicate };

struct Type {
  Kind kind = Kind::bits;
  unsigned width = 0;  ///< in bits; 1 for predicates
  bool pair = false;   ///< f16x2

  bool operator==(const Type&) const = default;
  bool is_signed() const { return kind == Kind::sign; }
  bool is_real() const { return kind == Kind::real; }
};

struct Operand {
  enum class Form { name, integer, real, vector, address };
  Form form = Form::name;
  std::string name;  ///< "$0", "%tid.x", or as .reg declares it; of an address its base, which may be missing
  std::int64_t number = 0;  ///< or the offset of an address
  double real = 0;
  bool negated = false;          ///< !p
  std::vector<Operand> members;  ///< of a vector
  std::string second;            ///< q of "p|q"

  static Operand named(std::string name);
};

/// One instruction, the declaration of one register, or a label.
struct Instruction {
  std::string text;   ///< "shfl.sync.up.b32"
  std::string guard;  ///< the predicate of @p
  bool unless = false;
  std::string name;                ///< "shfl"; ".reg" of a declaration, ":" of a label
  std::vector<std::string> words;  ///< "sync", "up": what is no type
  std::vector<Type> types;         ///< in their order
  std::vector<Operand> operands;

  bool has(std::string_view word) const;
  /// The last type. Throws Unknown where there is none.
  Type type() const;
  /// Throws Unknown when it has a word that is not among these, or another number of operands.
  void expect(std::size_t operands, std::initializer_list<std::string_view> words) const;
  [[noreturn]] void refuse() const;
};

/// The type that a word such as "u32" names; width 0 when it names none.
Type type_named(std::string_view word);

/// A register whose declaration stands in nested braces hides one of the same name further out: it is renamed, with the number of its
/// braces behind an apostrophe. Throws Unknown.
std::vector<Instruction> parse(std::string_view text);

}  // namespace nuna::compiler::ptx
