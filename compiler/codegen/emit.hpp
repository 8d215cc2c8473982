#pragma once
// From IR of blocks to an object: optimisation and machine code, for large modules by several threads.

#include <llvm/IR/Module.h>

#include <memory>
#include <string>
#include <vector>

namespace nuna::compiler {

struct Emission {
  std::string object;  ///< to be written
  std::string id;      ///< of the image: tells what its parts share from what other objects of a program have
  std::string cpu;     ///< as clang's -march
  std::string linker;  ///< ld, which joins the objects of parts
  std::string print_ir;  ///< optimised IR goes to files whose names begin so; "" for nowhere
};

/// How many parts a module of so many instructions is cut into: the same on every machine, so that objects are, too.
unsigned parts_of(std::size_t instructions);

/// Optimises `module`, in which kernels, and the image, know each other by `shared` functions and variables only, and writes its object.
/// Parts of large modules are made side by side, by as many threads as there are cores. Throws std::runtime_error with a message
/// for the user.
void emit(std::unique_ptr<llvm::Module> module, const std::vector<llvm::GlobalValue*>& shared,
          const Emission& emission);

}  // namespace nuna::compiler
