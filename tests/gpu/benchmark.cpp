// Nuna on a GPU against bare calls of the driver, in the same run: copies, empty launches, the stencil (interleaved
// rounds, median and quartiles; perf/measure.hpp).
//
//   benchmark [--json] [--pairs N] [--small] [copies] [launches] [waves]
//
// --small: sizes for the stand-in, whose figures mean nothing. Exit status: 0 whatever the figures; 1 when something failed or two
// sides that must agree do not; 77 without a card.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <vector>

#include "gpu/bare.hpp"

namespace {

int run(const nuna::perf::Report& report, const std::vector<const char*>& asked,
        const nuna::gpu::Scale& scale) {
  const auto wanted = [&](const char* part) {
    for (const char* name : asked) {
      if (std::strcmp(name, part) == 0) return true;
    }
    return asked.empty();
  };
  if (wanted("copies")) nuna::gpu::measure_copies(report, scale);
  if (wanted("launches")) nuna::gpu::measure_launches(report, scale);
  if (wanted("waves") && !nuna::gpu::measure_waves(report, scale)) return EXIT_FAILURE;
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  nuna::gpu::Scale scale;
  std::vector<const char*> asked;
  std::vector<char*> others;
  for (int i = 0; i < argc; ++i) {
    if (std::strcmp(argv[i], "--small") == 0) {
      scale.small = true;
    } else if (i > 0 && argv[i][0] >= 'a' && argv[i][0] <= 'z') {
      asked.push_back(argv[i]);
    } else {
      others.push_back(argv[i]);
    }
  }
  const auto& found = nuna::device::find_cards();
  if (found.cards.empty()) {
    std::fprintf(stderr, "benchmark: there are no CUDA devices: %s\n", found.why_none.c_str());
    return 77;
  }
  const nuna::perf::Report report(static_cast<int>(others.size()), others.data());
  scale.card_bytes = static_cast<std::size_t>(found.cards.front().memory_bytes);
  try {
    return run(report, asked, scale);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "benchmark: %s\n", e.what());
    return EXIT_FAILURE;
  }
}
