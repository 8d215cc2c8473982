#pragma once
// KernelCode: a kernel's IR with what LLVM knows of it, and the names that its model gives to parameters and pointers.

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PassManager.h>

#include <functional>
#include <optional>
#include <set>

#include "access/kernel_model.hpp"

namespace nuna::compiler {

using SharedVariables = std::set<const llvm::GlobalVariable*>;

class KernelCode {
 public:
  /// `model` takes the parameters and pointers that are asked for.
  KernelCode(llvm::Function& function, llvm::FunctionAnalysisManager& analyses, const SharedVariables& shared,
             access::KernelModel& model);

  llvm::Function& function;
  const llvm::DataLayout& layout;
  const llvm::DominatorTree& dominators;
  const llvm::LoopInfo& loops;
  llvm::ScalarEvolution& evolution;
  access::KernelModel& model;

  /// The scalar of a launch that `value` is: an argument, or what is loaded from one that is passed in memory.
  std::optional<std::uint16_t> scalar(const llvm::Value& value);
  /// The same of `bytes` bytes, `offset` bytes into it: the halves of a load that fetches two fields.
  std::optional<std::uint16_t> part_of_scalar(const llvm::Value& value, std::uint32_t offset,
                                              std::uint32_t bytes);
  bool is_unsigned_scalar(const llvm::Value& value);
  /// What a launch makes of numbers that it knows.
  /// Nothing where more than kDeepest would stand in each other: what ranges and names of them go through grows with each.
  std::optional<std::uint16_t> derived(access::Parameter::Operation operation, const access::Polynomial& left,
                                       const access::Polynomial& right = {});
  static constexpr int kDeepest = 4;

  /// What a pointer's object is.
  enum class Home {
    elsewhere,  ///< given by the launch: a parameter, or a variable of the program
    here,       ///< the thread's own memory, its block's, or code's constants
    unknown     ///< the pointer comes from memory, or is computed
  };
  Home home_of(const llvm::Value& object) const;
  /// Its place in model.pointers, where home_of says elsewhere.
  std::uint32_t pointer(const llvm::Value& object);

 private:
  std::optional<access::Pointer> place_of(const llvm::Value& value) const;
  std::uint16_t add(const access::Parameter& parameter);

  std::vector<int> depths_;  // of model.parameters: how many derivations stand in each other

  const SharedVariables& shared_;
};

/// Where the user wrote `instruction`: the call, where it is in a function of our headers.
access::SourceLine source_line(const llvm::Instruction& instruction);

}  // namespace nuna::compiler
