#pragma once
// The machine that code is made for.

#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <string>

namespace nuna::compiler {

/// `cpu` as clang's -march: "native", "x86-64-v3", "znver4". Throws std::runtime_error when LLVM does not know it.
std::unique_ptr<llvm::TargetMachine> make_machine(const std::string& cpu);

/// Features that code for a machine may use: "+avx2,+fma".
std::string host_features();
std::string features_of(const std::string& cpu);

}  // namespace nuna::compiler
