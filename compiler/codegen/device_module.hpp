#pragma once
// Device code as clang's CUDA front end writes it, made into IR for this machine: the IR that everything behind shares.
//
// A kernel in it is a function for one thread, with one argument a parameter; special registers, barriers and warps are
// calls of intrinsics; device functions that need their thread are inlined.

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace nuna::compiler {

struct Kernel {
  llvm::Function* function = nullptr;
  std::string name;  ///< mangled, as the host registers it
  std::uint32_t max_threads = 1024;
  std::vector<std::uint32_t> parameter_bytes;
};

/// A __shared__ variable: a global of address space 0 until block memory takes its place.
struct SharedVariable {
  llvm::GlobalVariable* variable = nullptr;
  bool dynamic = false;  ///< extern __shared__
};

struct DeviceModule {
  std::unique_ptr<llvm::Module> module;
  std::vector<Kernel> kernels;
  std::vector<SharedVariable> shared;
  std::vector<llvm::GlobalVariable*> variables;  ///< what the host may name; __managed__ ones are declared
};

/// Whether a kernel's argument is the address of the parameter, which is passed by value in memory.
bool is_by_reference(const llvm::Argument& argument);

/// Retargets `module` (triple nvptx64) to `machine`. Throws std::runtime_error, a message for the user, on what cannot be.
DeviceModule retarget(std::unique_ptr<llvm::Module> module, const llvm::TargetMachine& machine);

/// Inlines what needs its thread, and makes values of variables: loops and branches stay as they were written. Throws as above, for
/// instance on a barrier in a recursive function.
void inline_calls(DeviceModule& device, llvm::TargetMachine& machine);

/// Simplifies every function, thread by thread: no loop is vectorised, only small constant ones are unrolled.
void simplify(DeviceModule& device, llvm::TargetMachine& machine);

}  // namespace nuna::compiler
