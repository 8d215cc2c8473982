#include "property/random.hpp"

#include <optional>

namespace nuna::property {
namespace {

struct Asked {
  std::optional<std::uint64_t> seed;
  std::optional<int> seeds;
};

// Read once and taken away: Nuna warns of NUNA_ variables that it does not know.
const Asked& asked() {
  static const Asked only = [] {
    Asked a;
    if (const char* one = std::getenv("NUNA_TEST_SEED")) a.seed = std::strtoull(one, nullptr, 10);
    if (const char* many = std::getenv("NUNA_TEST_SEEDS")) a.seeds = std::atoi(many);
    ::unsetenv("NUNA_TEST_SEED");
    ::unsetenv("NUNA_TEST_SEEDS");
    return a;
  }();
  return only;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kFewer = 10;
#else
constexpr int kFewer = 1;
#endif

std::string repeat_with(std::uint64_t seed) {
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  const char* poison = std::getenv("NUNA_POISON");
  return "seed " + std::to_string(seed) +
         " fails; to repeat: NUNA_POISON=" + (poison != nullptr ? poison : "0") +
         " NUNA_TEST_SEED=" + std::to_string(seed) +
         " property_tests --gtest_filter=" + test->test_suite_name() + "." + test->name();
}

}  // namespace

int seeds(int by_default) { return asked().seeds.value_or(by_default / kFewer); }

void for_each_seed(int by_default, const std::function<void(std::uint64_t)>& body) {
  const auto first = asked().seed.value_or(1);
  const auto last = asked().seed ? first : static_cast<std::uint64_t>(seeds(by_default));
  ASSERT_GE(last, first) << "no seed: a property was not tested";
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    try {
      body(seed);
    } catch (const std::exception& e) {
      FAIL() << repeat_with(seed) << "\n" << e.what();
    }
    if (testing::Test::HasFailure()) FAIL() << repeat_with(seed);
  }
}

}  // namespace nuna::property
