// The whole runtime against the plain array model: random programs over the public API, on 1 to 4 ranks of 1 to 4 devices.

#include <gtest/gtest.h>

#include "base/log.hpp"
#include "property/script.hpp"

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

}  // namespace
}  // namespace nuna::property
