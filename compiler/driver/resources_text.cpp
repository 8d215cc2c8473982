#include "driver/resources_text.hpp"

#include <sstream>

namespace nuna::compiler {

std::string resources_text(const CompiledDevice& code) {
  constexpr const char* kInfo = "ptxas info    : ";
  std::ostringstream text;
  text << kInfo << code.variable_bytes << " bytes gmem\n";
  for (const auto& kernel : code.kernels) {
    text << kInfo << "Compiling entry function '" << kernel.name << "' for '" << code.cpu << "'\n"
         << kInfo << "Function properties for " << kernel.name << "\n    " << kernel.thread_bytes
         << " bytes stack frame\n"
         << kInfo << "Used " << kernel.shared_bytes << " bytes smem, " << kernel.parameter_bytes
         << " bytes cmem[0]\n";
  }
  return text.str();
}

}  // namespace nuna::compiler
