#pragma once
// Builds the IR of one statement of inline PTX: its registers, its operands, and calls of what nuna/device/ptx.h offers.

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Instructions.h>

#include <map>
#include <string>
#include <vector>

#include "codegen/ptx_text.hpp"

namespace nuna::compiler {

/// A register is a place in the thread's memory until simplify() has made values of them; so instructions may be guarded and jump.
/// Throws ptx::Unknown on what cannot be translated.
class PtxBuilder {
 public:
  /// Operands are numbered as the constraints are: outputs, then inputs, of which some are an output's first value.
  explicit PtxBuilder(llvm::CallInst& statement);

  /// Puts the values of the outputs in the statement's place and erases it.
  void finish();

  void declare(const std::string& name, ptx::Type type);

  llvm::Type* type_of(ptx::Type type);
  static unsigned width_of(const llvm::Type* type);

  /// The operand's bits as a value of that type; of integers the low ones, and above them zeros. The parts of a vector lie one above
  /// the other.
  llvm::Value* read(const ptx::Operand& operand, llvm::Type* type);
  llvm::Value* read(const ptx::Operand& operand, ptx::Type type) { return read(operand, type_of(type)); }
  llvm::Value* read_word(const ptx::Operand& operand) { return read(operand, at.getInt32Ty()); }
  llvm::Value* read_predicate(const ptx::Operand& operand) { return read(operand, at.getInt1Ty()); }
  /// A register wider than the value gets zeros above it, or the sign.
  void write(const ptx::Operand& operand, llvm::Value* value, bool is_signed = false);
  /// The q of an operand p|q, if it has one.
  void write_second(const ptx::Operand& operand, llvm::Value* value);
  /// A memory operand. One in shared memory may be the low 32 bits of the address.
  llvm::Value* address(const ptx::Operand& operand, bool shared);

  /// The carry of the thread, which outlives the statement.
  llvm::Value* carry();
  void set_carry(llvm::Value* carry);

  /// k as __nuna_sreg has it.
  llvm::Value* special(unsigned k);
  /// A function of nuna/device/ptx.h.
  llvm::Value* call(const llvm::Twine& name, llvm::Type* result, llvm::ArrayRef<llvm::Value*> arguments);
  /// The one of that name behind __nuna_ptx_, if there is one.
  llvm::Function* helper(const llvm::Twine& name);
  llvm::Value* call_word(const llvm::Twine& name, llvm::ArrayRef<llvm::Value*> arguments) {
    return call(name, at.getInt32Ty(), arguments);
  }
  /// A predicate as such functions take it.
  llvm::Value* as_word(llvm::Value* predicate) { return at.CreateZExt(predicate, at.getInt32Ty()); }
  llvm::Value* as_predicate(llvm::Value* word) { return at.CreateICmpNE(word, at.getInt32(0)); }

  /// The thread ends here, once the function is inlined into its kernel.
  void end_thread();

  /// A block of the statement by the name of its label.
  llvm::BasicBlock* label(const std::string& name);
  /// What is built from here on belongs to `block`; where the code before leads there, it goes on.
  void enter(llvm::BasicBlock* block);
  llvm::BasicBlock* new_block();

  llvm::IRBuilder<> at;

 private:
  llvm::AllocaInst* place(llvm::Type* type);
  llvm::Value* value_of(const std::string& name);
  llvm::Value* special_register(const std::string& name);
  llvm::Value* as(llvm::Value* value, llvm::Type* wanted);
  llvm::GlobalVariable* carry_place();

  llvm::CallInst& statement_;
  const llvm::InlineAsm& assembly_;
  llvm::BasicBlock* end_;  ///< begins with the statement
  std::map<std::string, llvm::AllocaInst*> registers_;
  std::map<std::string, llvm::Constant*> constants_;  ///< inputs that are no registers
  std::map<std::string, llvm::BasicBlock*> labels_;
  std::vector<std::string> outputs_;
};

/// The variable that stands for the carry while functions are not yet inlined.
constexpr const char* kPtxCarry = "__nuna_ptx_carry";

}  // namespace nuna::compiler
