#pragma once
// The table of kernels and variables that an object registers with libnuna_cudart (nuna_cudart/image.h).

#include <llvm/IR/Module.h>

#include <cstdint>
#include <string>
#include <vector>

namespace nuna::compiler {

struct ImageKernel {
  std::string name;
  llvm::Function* run = nullptr;
  std::vector<std::uint32_t> parameter_bytes;
  std::uint32_t flags = 0;
  std::uint32_t static_shared_bytes = 0;
  std::uint32_t max_threads = 0;
  std::uint64_t fixed_bytes = 0;
  std::uint64_t thread_bytes = 0;
  std::string model;  ///< access::write_model's
};

struct Image {
  std::string id;   ///< "" for a device link
  std::string cpu;  ///< features that the code needs
  std::vector<ImageKernel> kernels;
  std::vector<llvm::GlobalVariable*> variables;
  std::string ptx;  ///< "" if there is none
};

/// A section of objects that are the result of a device link.
constexpr const char* kLinkedSection = ".nuna.linked";

/// Adds the table to `module`, and a constructor that registers it.
void add_image(llvm::Module& module, const Image& image);

}  // namespace nuna::compiler
