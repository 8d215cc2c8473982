// Tests that use CUDA devices find the stand-in for the driver, unless NUNA_CUDA_DRIVER names another.

#include <cstdlib>

namespace {

[[maybe_unused]] const int kNamed = ::setenv("NUNA_CUDA_DRIVER", NUNA_TEST_CUDA_DRIVER, 0);

}  // namespace
