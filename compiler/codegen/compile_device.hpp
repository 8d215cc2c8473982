#pragma once
// Device code in, an object for this machine out.

#include <cstdint>
#include <string>
#include <vector>

#include "access/kernel_model.hpp"

namespace nuna::compiler {

struct DeviceOptions {
  std::vector<std::string> bitcode;  ///< files as clang's device pass writes them; several are linked
  std::string object;                ///< to be written
  std::string id;                    ///< of the image; "" for a device link
  std::string cpu = "native";        ///< as clang's -march
  std::string linker = "ld";         ///< joins what is made side by side
  bool debug = false;                ///< keep lines for debuggers
  bool audit = false;                ///< the code tells of each byte that it touches (codegen/audit.hpp)
  std::string ptx;                   ///< a file, if there is one
  std::string
      print_ir;  ///< where the IR is written before and behind each step, for developers; "" for nowhere
};

/// What a kernel needs, in bytes.
struct KernelResources {
  std::string name;                   ///< mangled
  std::uint64_t parameter_bytes = 0;  ///< of all arguments
  std::uint64_t shared_bytes = 0;     ///< static shared memory of a block
  std::uint64_t thread_bytes = 0;     ///< what a thread keeps where it waits for others, and its arrays
};

struct CompiledDevice {
  std::string cpu;  ///< that it is for, as LLVM names it
  std::vector<KernelResources> kernels;
  std::uint64_t variable_bytes = 0;         ///< of __device__, __constant__ and __managed__ variables
  std::vector<access::KernelModel> models;  ///< what the kernels touch, which the object says, too
};

/// Throws std::runtime_error with a message for the user.
CompiledDevice compile_device(const DeviceOptions& options);

/// What kernels touch, without an object: of the options, only `bitcode` counts.
std::vector<access::KernelModel> model_device(const DeviceOptions& options);

}  // namespace nuna::compiler
