#pragma once
// A PTX module as it is written: what the parser makes of the text, and the decoder reads. Registers are numbered
// already, and names of inner scopes are told apart.

#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace standin::ptx {

/// The module cannot be used. The text names the line.
class Error : public std::runtime_error {
 public:
  Error(int line, const std::string& what)
      : std::runtime_error("PTX line " + std::to_string(line) + ": " + what) {}
};

enum class Space { kGlobal, kConst, kShared, kLocal, kParam };

/// `symbol`'s address plus `addend`, to be written at `offset` of a variable.
struct Relocation {
  std::size_t offset = 0;
  std::string symbol;
  std::int64_t addend = 0;
};

struct Variable {
  std::string name;
  Space space = Space::kGlobal;
  std::size_t size_bytes = 0;  // 0: as large as the launch says (.extern .shared x[])
  std::size_t align_bytes = 1;
  bool external = false;
  std::vector<std::uint8_t> initial;  // as far as it is given; zeros follow
  std::vector<Relocation> relocations;
  int line = 0;
};

struct Operand {
  enum class Kind { kRegister, kName, kInteger, kFloat32, kFloat64, kAddress, kList };
  Kind kind = Kind::kName;
  bool negated = false;         // !%p
  int slot = 0;                 // of a register, and of an address's register
  std::string name;             // of a name, and of an address's symbol
  std::uint64_t value = 0;      // of a number (bits of a float); an address's offset
  std::vector<Operand> list;    // {a, b} and (a, b)
  bool has_register = false;    // of an address
  std::vector<Operand> second;  // a|b: b
};

struct Statement {
  int line = 0;
  int guard = 0;  // slot of the predicate; 0 is none
  bool guard_negated = false;
  std::string opcode;
  std::vector<Operand> operands;
};

struct Function {
  std::string name;
  bool entry = false;
  bool body = false;  // otherwise only declared
  std::vector<Variable> returns;
  std::vector<Variable> parameters;
  std::vector<Variable> variables;  // of the body
  std::vector<int> register_bits;   // by slot; predicates have 1. Slot 0 is not used
  std::vector<Statement> statements;
  std::map<std::string, std::size_t> labels;                // to the statement's number
  std::map<std::string, std::vector<std::string>> targets;  // of .branchtargets
  unsigned most_threads = 1024;
  int line = 0;
};

struct Module {
  std::vector<Variable> variables;
  std::vector<Function> functions;
};

/// Throws Error.
Module parse(std::string_view text);

}  // namespace standin::ptx
