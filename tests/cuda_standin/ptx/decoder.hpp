#pragma once
// From statements to instructions. Each family of instructions has a file of its own (decode_*.cpp), which adds its
// opcodes to the table.

#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/machine.hpp"
#include "ptx/syntax.hpp"

namespace standin::ptx {

/// A module, ready to run.
struct Program {
  std::map<std::string, std::unique_ptr<Code>, std::less<>> functions;
};

/// Where a variable of the module lies.
using Addresses = std::map<std::string, std::uint64_t, std::less<>>;

/// Throws Error, also for every instruction that is not known.
Program decode(const Module& module, const Addresses& addresses);

enum class Type {
  kNone,
  kPred,
  kB8,
  kU8,
  kS8,
  kB16,
  kU16,
  kS16,
  kF16,
  kB32,
  kU32,
  kS32,
  kF32,
  kB64,
  kU64,
  kS64,
  kF64
};

std::optional<Type> type_named(std::string_view name);
int bits_of(Type type);

/// An opcode, taken apart: "cvt.rzi.ftz.s32.f32" has the types s32 and f32 and the modifiers rzi and ftz.
class Opcode {
 public:
  Opcode(std::string_view text, int line);
  const std::string& base() const { return base_; }
  int line() const { return line_; }
  Type type(std::size_t number = 0) const { return number < types_.size() ? types_[number] : Type::kNone; }
  /// True once if the modifier is there: what nobody asked for is an error (done()).
  bool take(std::string_view modifier);
  std::string_view take_any(std::initializer_list<std::string_view> modifiers);
  void done() const;
  [[noreturn]] void fail(const std::string& what) const;

 private:
  std::string text_, base_;
  int line_;
  std::vector<std::string> modifiers_;
  std::vector<Type> types_;
};

class Decoder {
 public:
  Decoder(const Module& module, const Addresses& addresses, Program& program)
      : module_(module), addresses_(addresses), program_(program) {}
  void function(const Function& function, Code& code);

  /// Adds an instruction with the guard of the statement.
  Instruction& emit(Handler handler);
  /// The same for one that only prepares an operand: without guard.
  Instruction& prepare(Handler handler);
  const Operand& operand(std::size_t number) const;
  std::size_t operands() const { return statement_->operands.size(); }
  /// The slot an operand is read from.
  std::uint32_t source(const Operand& operand, Type type);
  std::uint32_t source(std::size_t number, Type type) { return source(operand(number), type); }
  /// The slot of a result; "_" gives one that nobody reads.
  std::uint32_t result(const Operand& operand);
  std::uint32_t result(std::size_t number = 0) { return result(operand(number)); }
  std::uint32_t constant(std::uint64_t bits);
  std::uint32_t temporary() { return static_cast<std::uint32_t>(bits_.size()) + extra_slots_++; }
  int bits_of_slot(std::uint32_t slot) const { return slot < bits_.size() ? bits_[slot] : 64; }
  struct Address {
    std::uint32_t slot = 0;
    std::int64_t offset = 0;
    bool frame = false;  // a parameter in the frame, not the launch's
    bool local = false;  // if it is one of parameters, then of those in local memory
  };
  Address address(std::size_t number);
  /// Among the instructions that remember what they touched.
  std::uint32_t next_recent() { return recents_++ % Block::kRecents; }
  Extra& extra(Instruction& instruction);
  void branch_to(Instruction& instruction, const std::string& label);
  void depends() { code_->independent = false; }

  const Function& function() const { return *function_; }
  const Program& program() const { return program_; }
  /// Has the module a body of that function?
  bool defined(std::string_view name) const;
  struct Placed {
    Space space = Space::kGlobal;
    std::uint64_t address = 0;  // or offset
    std::size_t size_bytes = 0;
    bool frame = false;  // a parameter in the frame
  };
  const Placed* placed(std::string_view name) const;
  Code& code() { return *code_; }

 private:
  struct Jump {
    std::size_t instruction;
    std::size_t slot;  // among the targets of a table; -1 for a branch
    std::string label;
  };
  void place_variables();
  void place_common();
  void place_shared();
  std::size_t place(const Variable& variable, std::size_t& end);
  void statement(const Statement& statement);
  void finish(const std::vector<std::size_t>& starts);
  std::uint32_t source_name(const Operand& operand);
  std::uint64_t bits_of_number(const Operand& operand, Type type) const;

  const Module& module_;
  const Addresses& addresses_;
  Program& program_;
  const Function* function_ = nullptr;
  const Statement* statement_ = nullptr;
  Code* code_ = nullptr;
  std::vector<int> bits_;
  std::uint32_t extra_slots_ = 0;
  std::uint32_t recents_ = 0;
  std::map<std::uint64_t, std::uint32_t> constants_;
  std::map<std::string, Placed, std::less<>> placed_;
  std::map<std::string, Placed, std::less<>> common_;  // shared variables of the module that functions use
  std::vector<Jump> jumps_;
};

/// One entry of the table: decodes the statement at hand.
using DecodeFunction = void (*)(Decoder&, Opcode&);
using Table = std::map<std::string, DecodeFunction, std::less<>>;
void add_integer(Table& table);
void add_carry(Table& table);
void add_bits(Table& table);
void add_float(Table& table);
void add_compare(Table& table);
void add_convert(Table& table);
void add_move(Table& table);
void add_memory(Table& table);
void add_atomic(Table& table);
void add_control(Table& table);
void add_warp(Table& table);

/// What a special register (%tid.x) is read by; null if it is none.
Handler special_register(std::string_view name);
/// The address of a local variable.
bool local_address(Thread& thread, const Instruction& instruction);

template <class T>
struct Tag {
  using type = T;
};

/// Calls choose(Tag<T>) with the C++ type of an integer type (unsigned for bits).
template <class Choose>
Handler for_integer(Type type, Choose choose) {
  switch (type) {
    case Type::kB8:
    case Type::kU8:
      return choose(Tag<std::uint8_t>{});
    case Type::kS8:
      return choose(Tag<std::int8_t>{});
    case Type::kB16:
    case Type::kU16:
      return choose(Tag<std::uint16_t>{});
    case Type::kS16:
      return choose(Tag<std::int16_t>{});
    case Type::kB32:
    case Type::kU32:
      return choose(Tag<std::uint32_t>{});
    case Type::kS32:
      return choose(Tag<std::int32_t>{});
    case Type::kB64:
    case Type::kU64:
      return choose(Tag<std::uint64_t>{});
    case Type::kS64:
      return choose(Tag<std::int64_t>{});
    default:
      return nullptr;
  }
}

template <class Choose>
Handler for_float(Type type, Choose choose) {
  if (type == Type::kF32) return choose(Tag<float>{});
  if (type == Type::kF64) return choose(Tag<double>{});
  return nullptr;
}

template <class Choose>
Handler for_any(Type type, Choose choose) {
  return type == Type::kF32 || type == Type::kF64 ? for_float(type, choose) : for_integer(type, choose);
}

}  // namespace standin::ptx
