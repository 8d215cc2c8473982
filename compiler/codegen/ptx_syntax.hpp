#pragma once
// The text of inline PTX, cut into statements. Pure.

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace nuna::compiler::ptx {

/// PTX that is not known; the text says which.
struct Unknown : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class Kind { bits, sign, unsign, floating, predicate };

struct Type {
  Kind kind = Kind::bits;
  unsigned width = 0;  ///< in bits; 1 for predicates
};

struct Operand {
  enum class Form { name, number, real, vector, address };
  Form form = Form::name;
  std::string name;              ///< "$0", "%tid.x", or as .reg declares it; of an address, its base
  std::int64_t number = 0;       ///< or the bits of a real, or the offset of an address
  unsigned width = 0;            ///< of a real
  bool negated = false;          ///< !p
  std::vector<Operand> members;  ///< of a vector
};

/// One instruction, or one .reg for each name that it declares.
struct Statement {
  std::string guard;  ///< the predicate of @p
  bool unless = false;
  std::vector<std::string> words;  ///< "shfl", "sync", "up", "b32"; of a declaration "", "reg", and its type
  std::vector<Operand> operands;
  std::string second;  ///< q of "p|q" as the first operand
};

/// The type that a word such as "u32" names; width 0 when it names none.
Type type_named(std::string_view word);

/// Throws Unknown.
std::vector<Statement> parse(std::string_view text);

}  // namespace nuna::compiler::ptx
