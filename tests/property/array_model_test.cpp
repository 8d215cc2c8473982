// The whole runtime against the plain array model: random programs over the public API, on 1 to 4 ranks of 1 to 4 devices.

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/log.hpp"
#include "property/script.hpp"
#ifdef NUNA_WITH_CUDA
#include "device/cuda/cuda_device.hpp"
#endif

namespace nuna::property {
namespace {

TEST(Runtime, ComputesTheSameBytesAsOneArrayAndOneProcessor) {
  const base::LogCapture quiet(base::LogLevel::error);  // programs read what nobody wrote, on purpose
  for_each_seed(2000, [](std::uint64_t seed) {
    const Script script = random_script(seed);
    try {
      perform(script);
    } catch (const std::exception& e) {
      throw Mismatch(std::string(e.what()) + "\nof: " + script.text());
    }
  });
}

#ifdef NUNA_WITH_CUDA
TEST(Runtime, ComputesTheSameBytesOnGpus) {
  ASSERT_FALSE(device::find_cards().cards.empty()) << device::find_cards().why_none;
  const base::LogCapture quiet(base::LogLevel::error);
  for_each_seed(40, [](std::uint64_t seed) {
    const Script script = random_script(seed);
    for (const char* memory : {"mapped", "plain"}) {
      ::setenv("NUNA_CUDA_MEMORY", memory, 1);
      ::setenv("NUNA_MEMORY_LIMIT", "32 MiB", 1);
      try {
        perform(script, DeviceKind::cuda);
      } catch (const std::exception& e) {
        throw Mismatch(std::string(e.what()) + "\nof: " + script.text() + " in " + memory + " memory");
      }
    }
  });
  ::unsetenv("NUNA_CUDA_MEMORY");
  ::unsetenv("NUNA_MEMORY_LIMIT");
}
#endif

}  // namespace
}  // namespace nuna::property
