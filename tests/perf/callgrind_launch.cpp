// A launch that was planned before, for counting its instructions: tests/perf/run runs this under callgrind, which
// collects while repeat() is on the stack (--toggle-collect).
//
//   perf_callgrind_launch program|context heat|wave COUNT
//
// "program": what a launch costs between the public API and the executor: the arguments noted, the plan and its steps
// found in the caches, the buffers' states renewed, the call counted. The executor below does nothing.
// "context": the whole call of Context::launch on the caller's thread, including the queue of a real device.
// "heat" reads one buffer with a halo and writes another; "wave" is the six-buffer launch of apps/stencil. Both swap two
// buffers.

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/local.hpp"
#include "execute/program.hpp"
#include "nuna/nuna.hpp"

namespace {

using nuna::Extents;
using nuna::Index;

constexpr int kWarmUp = 16;

class Repeated {
 public:
  virtual ~Repeated() = default;
  virtual void launch() = 0;
  virtual void finish() {}
};

class Nothing final : public nuna::execute::Executor {
 public:
  void prepare(const nuna::plan::PlacePlan&, const nuna::execute::Call&) override {}
  void make_room() override {}
  nuna::execute::Completion submit(const nuna::plan::PlacePlan&, const nuna::execute::Call&) override {
    return {};
  }
  void wait_for_host(nuna::execute::Instances&, const nuna::base::ByteBox&, bool) override {}
  void wait_for(const nuna::execute::Tickets&) override {}
  void quiesce(nuna::execute::Instances&) override {}
  void wait_for(nuna::execute::Instances&) override {}
  std::vector<std::exception_ptr> drain() override { return {}; }
};

constexpr Index kPoints = 320;

struct Use {
  Extents extents;
  nuna::AccessMap map;
  bool reads = false;
  bool writes = false;
};

std::vector<Use> heat() {
  const Extents plane{kPoints, kPoints};
  return {{plane, nuna::halo(1), true}, {plane, nuna::one_to_one(), false, true}};
}

std::vector<Use> wave() {
  const Extents field{kPoints, kPoints, kPoints};
  return {{field, nuna::halo(4), true},      {field, nuna::one_to_one(), true, true},
          {field, nuna::one_to_one(), true}, {{kPoints}, nuna::whole(), true},
          {{kPoints}, nuna::whole(), true},  {{kPoints}, nuna::whole(), true}};
}

// Two devices without queues, which nobody calls.
class OnProgram final : public Repeated {
 public:
  explicit OnProgram(std::vector<Use> uses)
      : uses_(std::move(uses)),
        places_{{nullptr, nullptr, nullptr}, {{1}, {2}}},
        communicator_(nuna::cluster::make_local()),
        program_(config(), places_, arena_, *communicator_, executor_, stats_, nullptr) {
    for (const Use& use : uses_) {
      buffers_.push_back(&program_.create({use.extents, 4}, "callgrind_launch.cpp:1"));
      program_.host_wrote(*buffers_.back(), buffers_.back()->shape().whole(), program_.all_ranks());
    }
  }
  void launch() override {
    nuna::execute::Launch launch{
        .name = "stencil",
        .site = "callgrind_launch.cpp:2",
        .arguments = {.shape = {.domain = uses_[0].extents, .block = nuna::block(1, 16)}}};
    for (std::size_t b = 0; b < buffers_.size(); ++b) {
      launch.arguments.add(*buffers_[b], uses_[b].map, uses_[b].reads, uses_[b].writes, false);
    }
    program_.launch(launch);
    std::swap(buffers_[0], buffers_[1]);
  }

 private:
  static nuna::execute::ProgramConfig config() {
    nuna::execute::ProgramConfig c;
    c.team = {1, 2};
    c.dense_limit = Index{1} << 38;
    return c;
  }

  std::vector<Use> uses_;
  nuna::execute::Places places_;
  nuna::address::Arena arena_{Index{1} << 39};
  std::unique_ptr<nuna::cluster::Communicator> communicator_;
  Nothing executor_;
  nuna::trace::Stats stats_;
  nuna::execute::Program program_;
  std::vector<nuna::execute::Buffer*> buffers_;
};

struct Kernel {
  template <class... Views>
  void operator()(nuna::Thread, const Views&...) const {}
};

nuna::Context one_device() {
  nuna::Options options;
  options.devices = 1;
  options.threads_per_device = 1;
  return nuna::Context::self(options);
}

class HeatOnContext final : public Repeated {
 public:
  HeatOnContext() {
    context_.fill(a_, 0.0f);
    context_.fill(b_, 0.0f);
  }
  void launch() override {
    context_.launch("heat", kSize, nuna::block(16, 16), Kernel{}, nuna::read(a_, nuna::halo(1)),
                    nuna::write(b_));
    swap(a_, b_);
  }
  void finish() override { context_.wait(); }

 private:
  static constexpr Extents kSize{32, 32};
  nuna::Context context_ = one_device();
  nuna::Buffer<float, 2> a_{context_, kSize};
  nuna::Buffer<float, 2> b_{context_, kSize};
};

class WaveOnContext final : public Repeated {
 public:
  WaveOnContext() {
    for (auto* buffer : {&now_, &next_, &courant2_}) context_.fill(*buffer, 0.0f);
    for (auto* buffer : {&x_, &y_, &z_}) context_.fill(*buffer, 0.0f);
  }
  void launch() override {
    context_.launch("wave", kSize, nuna::block(1, 16, 32), Kernel{}, nuna::read(now_, nuna::halo(4)),
                    nuna::read_write(next_), nuna::read(courant2_), nuna::read(x_, nuna::whole()),
                    nuna::read(y_, nuna::whole()), nuna::read(z_, nuna::whole()));
    swap(now_, next_);
  }
  void finish() override { context_.wait(); }

 private:
  static constexpr Extents kSize{8, 16, 32};
  nuna::Context context_ = one_device();
  nuna::Buffer<float, 3> now_{context_, kSize};
  nuna::Buffer<float, 3> next_{context_, kSize};
  nuna::Buffer<float, 3> courant2_{context_, kSize};
  nuna::Buffer<float, 1> x_{context_, {8}};
  nuna::Buffer<float, 1> y_{context_, {16}};
  nuna::Buffer<float, 1> z_{context_, {32}};
};

std::unique_ptr<Repeated> chosen(std::string_view where, std::string_view what) {
  if (where == "program" && what == "heat") return std::make_unique<OnProgram>(heat());
  if (where == "program" && what == "wave") return std::make_unique<OnProgram>(wave());
  if (where == "context" && what == "heat") return std::make_unique<HeatOnContext>();
  if (where == "context" && what == "wave") return std::make_unique<WaveOnContext>();
  return nullptr;
}

}  // namespace

extern "C" [[gnu::noinline, gnu::used]] void repeat(Repeated& repeated, int count) {
  for (int i = 0; i < count; ++i) repeated.launch();
}

int main(int argc, char** argv) {
  const int count = argc == 4 ? std::atoi(argv[3]) : 0;
  const auto repeated = argc == 4 ? chosen(argv[1], argv[2]) : nullptr;
  if (repeated == nullptr || count < 1) {
    std::fprintf(stderr, "usage: %s program|context heat|wave COUNT, under callgrind\n", argv[0]);
    return 2;
  }
  for (int i = 0; i < kWarmUp; ++i) repeated->launch();
  repeated->finish();
  repeat(*repeated, count);
  repeated->finish();
  return 0;
}
