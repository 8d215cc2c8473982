#include "driver/resources_text.hpp"

#include <gtest/gtest.h>

namespace nuna::compiler {
namespace {

TEST(ResourcesText, SaysOfEachKernelWhatItNeedsInPtxasForm) {
  CompiledDevice code;
  code.cpu = "znver4";
  code.variable_bytes = 40;
  code.kernels = {{"_Z3addPfi", 12, 0, 0}, {"_Z3sumPf", 8, 1024, 16}};
  EXPECT_EQ(resources_text(code),
            "ptxas info    : 40 bytes gmem\n"
            "ptxas info    : Compiling entry function '_Z3addPfi' for 'znver4'\n"
            "ptxas info    : Function properties for _Z3addPfi\n"
            "    0 bytes stack frame\n"
            "ptxas info    : Used 0 bytes smem, 12 bytes cmem[0]\n"
            "ptxas info    : Compiling entry function '_Z3sumPf' for 'znver4'\n"
            "ptxas info    : Function properties for _Z3sumPf\n"
            "    16 bytes stack frame\n"
            "ptxas info    : Used 1024 bytes smem, 8 bytes cmem[0]\n");
}

}  // namespace
}  // namespace nuna::compiler
