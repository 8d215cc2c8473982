#pragma once
// Device code inside objects (-rdc=true): bitcode in a section that no linker loads, and the host's registration functions.

#include <string>
#include <vector>

namespace nuna::compiler {

/// Writes an object whose section .nuna.device holds `bitcode` (a file), and which defines what `host_object` calls to have its
/// kernels registered (__cudaRegisterLinkedBinary...).
void write_device_section(const std::string& bitcode, const std::string& host_object,
                          const std::string& object);

struct DeviceCode {
  std::vector<std::string> bitcode;  ///< files
  bool linked = false;               ///< some object is the result of a device link already
};

/// The bitcode in objects and archives, each put into a file in `folder`. Files that do not exist or hold no device code are passed
/// over. Throws std::runtime_error on a file that cannot be read.
DeviceCode extract_device_code(const std::vector<std::string>& files, const std::string& folder);

/// An object with nothing in it.
void write_empty_object(const std::string& object);

}  // namespace nuna::compiler
