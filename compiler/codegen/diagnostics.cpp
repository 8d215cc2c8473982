#include "codegen/diagnostics.hpp"

#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/DebugInfoMetadata.h>

namespace nuna::compiler {

namespace {

std::string at(const llvm::DILocalScope* scope, unsigned line) {
  return (scope->getFilename() + ":" + std::to_string(line) + ": ").str();
}

}  // namespace

std::string at_line(const llvm::Function& function) {
  const auto* subprogram = function.getSubprogram();
  return subprogram != nullptr ? at(subprogram, subprogram->getLine()) : "";
}

std::string at_line(const llvm::Instruction& instruction) {
  const auto& location = instruction.getDebugLoc();
  if (!location) return at_line(*instruction.getFunction());
  return at(llvm::cast<llvm::DILocalScope>(location.getScope()), location.getLine());
}

std::string readable(const llvm::Function& function) { return llvm::demangle(function.getName()); }

}  // namespace nuna::compiler
