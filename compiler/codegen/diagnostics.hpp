#pragma once
// What messages say of IR: the user's lines and names.

#include <llvm/IR/Function.h>
#include <llvm/IR/Instruction.h>

#include <string>

namespace nuna::compiler {

/// "file.cu:12: " where debug information tells it, else "".
std::string at_line(const llvm::Function& function);
std::string at_line(const llvm::Instruction& instruction);

/// The source's name of a function: "scan<int>(int*, int)".
std::string readable(const llvm::Function& function);

}  // namespace nuna::compiler
