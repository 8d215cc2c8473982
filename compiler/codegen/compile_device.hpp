#pragma once
// Device code in, an object for this machine out.

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

/// Returns what its kernels touch, which the object says, too. Throws std::runtime_error with a message for the user.
std::vector<access::KernelModel> compile_device(const DeviceOptions& options);

/// The same without an object: of the options, only `bitcode` counts.
std::vector<access::KernelModel> model_device(const DeviceOptions& options);

}  // namespace nuna::compiler
