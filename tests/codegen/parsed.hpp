#pragma once
// LLVM IR of tests, written as text.

#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

#include <memory>
#include <string>

namespace nuna::compiler {

/// Null, and a failure of the test, where it is not IR.
inline std::unique_ptr<llvm::Module> parsed(const std::string& text, llvm::LLVMContext& context) {
  llvm::SMDiagnostic problem;
  auto module = llvm::parseAssemblyString(text, problem, context);
  EXPECT_NE(module, nullptr) << problem.getMessage().str();
  return module;
}

/// A failure of the test where LLVM refuses what a pass has made of the function.
inline void expect_well_formed(const llvm::Function& function) {
  std::string wrong;
  llvm::raw_string_ostream to(wrong);
  EXPECT_FALSE(llvm::verifyFunction(function, &to)) << wrong;
}

}  // namespace nuna::compiler
