// Programs in memories that are too small for them: buffers move out of the devices and come back with the same bytes; a
// call that still finds no room is refused and changes nothing.

#include <gtest/gtest.h>

#include "base/log.hpp"
#include "property/launching.hpp"
#include "property/script.hpp"

namespace nuna::property {
namespace {

class Crowded {
 public:
  explicit Crowded(std::uint64_t seed) : random_(seed), context_(Context::self(options(random_))) {
    const int n = random_.number(5, 8);
    for (int b = 0; b < n; ++b) {
      shapes_.push_back({Extents{kElements}, kElementBytes});
      model_.emplace_back(shapes_.back());
      buffers_.push_back(make_buffer(context_, shapes_.back()));
    }
  }

  void step() {
    LaunchSpec spec;
    do {
      spec = random_launch(random_, shapes_, {1, context_.devices()}, {false, 2});
    } while (refusal(spec, shapes_, {1, context_.devices()}) || spec.domain.box().empty());
    const auto kernel = std::make_shared<const HashKernel>(spec, model_, random_.bits());
    try {
      start(context_, buffers_, spec, HashKernel::code(DeviceKind::host), kernel);
      kernel->apply(spec.domain.box(), model_);
    } catch (const Error& e) {
      if (e.code() != ErrorCode::out_of_memory) throw;
    }
    if (random_.one_in(4)) check(random_.number(0, static_cast<int>(buffers_.size()) - 1));
  }

  void check(int b) {
    const auto n = static_cast<std::size_t>(b);
    const Box whole(shapes_[n].extents);
    Bytes got;
    try {
      got = buffers_[n]->read(whole);
    } catch (const Error& e) {
      if (e.code() != ErrorCode::out_of_memory) throw;
      return;
    }
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (model_[n].written[i] == 0 || got[i] == model_[n].bytes[i]) continue;
      throw Mismatch("byte " + std::to_string(i) + " of #" + std::to_string(b) + " after evictions");
    }
  }
  void check_all() {
    for (int b = 0; b < static_cast<int>(buffers_.size()); ++b) check(b);
  }
  std::string stats() const { return context_.stats(); }

 private:
  static constexpr Index kElements = 64;
  static constexpr Index kElementBytes = 8;  // a buffer begins on a page of its own
  static Options options(Random& random) {
    Options o;
    o.devices = random.number(2, 3);
    o.threads_per_device = 1;
    o.memory_limit_bytes = static_cast<std::size_t>(random.number(4, 6)) << 12;
    return o;
  }

  Random random_;
  Context context_;
  std::vector<base::Shape> shapes_;
  std::vector<Array> model_;
  std::vector<std::unique_ptr<AnyBuffer>> buffers_;
};

TEST(Eviction, LosesNothing) {
  const base::LogCapture quiet(base::LogLevel::error);
  int evicting = 0;
  for_each_seed(500, [&](std::uint64_t seed) {
    Crowded program(seed);
    for (int s = 0; s < 20; ++s) program.step();
    program.check_all();
    if (program.stats().find("\"evictions\":{\"count\":0") == std::string::npos) ++evicting;
  });
  EXPECT_GT(evicting, 0) << "nothing was evicted: the memories were not too small";
}

}  // namespace
}  // namespace nuna::property
