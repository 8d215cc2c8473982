// Programs in which kernels throw: what a failed part should have written, and all that was made of it, is an error to
// read on every rank, never a wrong value; what is written anew is whole again; and nothing hangs.

#include <gtest/gtest.h>

#include "base/log.hpp"
#include "property/launching.hpp"
#include "property/script.hpp"
#include "schedule/partition.hpp"

namespace nuna::property {
namespace {

struct Throwing {
  HashKernel kernel;
  Index first_thread;  // of the part that fails, along axis 0
  static void run(const void* closure, const Box& threads, const detail::InstanceView* views) {
    const auto& self = *static_cast<const Throwing*>(closure);
    if (threads[0].contains(self.first_thread)) throw std::runtime_error("this kernel fails");
    HashKernel::run(&self.kernel, threads, views);
  }
};

struct Call {
  LaunchSpec spec;
  std::shared_ptr<const Throwing> kernel;
  int heals = -1;       // or a fill of this buffer
  int check = -1;       // a buffer to read afterwards
  bool failed = false;  // some byte of it must be an error
  Array want{base::Shape{}};
};

// Failure by byte, as it must spread at least: parts that read what failed fail.
class Spreading {
 public:
  explicit Spreading(const std::vector<base::Shape>& shapes) : shapes_(shapes) {
    for (const base::Shape& s : shapes) failed_.emplace_back(static_cast<std::size_t>(s.extents.count()));
  }

  void launch(const Call& call, access::Team team) {
    const access::Cut cut =
        schedule::cut(call.spec.domain, call.spec.block, team_of(call.spec, team), "a launch");
    auto after = failed_;
    for (int p = 0; p < cut.parts(); ++p) {
      const Box threads = cut.threads(p);
      if (threads.empty()) continue;
      bool fails = threads[0].contains(call.kernel->first_thread);
      for (const UseSpec& u : call.spec.uses) {
        if (u.reads || u.may)
          for_each(u, threads, [&](Index e) {
            fails = fails || failed_[static_cast<std::size_t>(u.buffer)][static_cast<std::size_t>(e)];
          });
      }
      for (const UseSpec& u : call.spec.uses) {
        if (u.writes)
          for_each(u, threads, [&](Index e) {
            after[static_cast<std::size_t>(u.buffer)][static_cast<std::size_t>(e)] = fails;
          });
      }
    }
    failed_ = std::move(after);
  }
  void heal(int b) {
    failed_[static_cast<std::size_t>(b)].assign(failed_[static_cast<std::size_t>(b)].size(), false);
  }
  bool any(int b) const {
    const auto& f = failed_[static_cast<std::size_t>(b)];
    return std::find(f.begin(), f.end(), true) != f.end();
  }

 private:
  template <class F>
  void for_each(const UseSpec& use, const Box& threads, F f) const {
    for_each_thread(threads, [&](const Box& thread) {
      std::vector<Box> boxes;
      use.map.per_thread(thread, boxes);
      for (const Box& b : boxes)
        for_each_element(shapes_[static_cast<std::size_t>(use.buffer)].extents, b, f);
    });
  }

  std::vector<base::Shape> shapes_;
  std::vector<std::vector<bool>> failed_;
};

constexpr unsigned char kHealed[4] = {1, 2, 3, 4};

struct Program {
  access::Team team;
  std::vector<base::Shape> shapes;
  std::vector<Call> calls;
  bool any_failed = false;

  explicit Program(std::uint64_t seed) {
    Random random(seed);
    team = {random.number(1, 3), random.number(1, 3)};
    std::vector<Array> model;
    for (int b = 0; b < 3; ++b) {
      shapes.push_back({Extents{random.between(12, 40)}, 4});
      model.emplace_back(shapes.back());
    }
    Spreading spreading(shapes);
    for (int b = 0; b < 3; ++b) add_fill(b, model, spreading);
    for (int n = random.number(4, 8); n > 0; --n) {
      add_launch(random, model, spreading);
      const int b = random.number(0, 2);
      if (random.one_in(4)) add_fill(b, model, spreading);
      if (random.one_in(3)) add_check(b, model, spreading);
    }
    for (int b = 0; b < 3; ++b) add_check(b, model, spreading);
    for (int b = 0; b < 3; ++b) {
      add_fill(b, model, spreading);
      add_check(b, model, spreading);
    }
  }

  void add_launch(Random& random, std::vector<Array>& model, Spreading& spreading) {
    Call call;
    do {
      call.spec = random_launch(random, shapes, team, {false, 2});
    } while (refusal(call.spec, shapes, team));
    const Interval axis = call.spec.domain.box()[0];
    const Index thread = random.one_in(3) ? random.between(axis.begin, axis.end - 1) : axis.end + 1000;
    any_failed = any_failed || axis.contains(thread);
    call.kernel =
        std::make_shared<const Throwing>(Throwing{HashKernel(call.spec, model, random.bits()), thread});
    call.kernel->kernel.apply(call.spec.domain.box(), model);
    spreading.launch(call, team);
    calls.push_back(std::move(call));
  }
  void add_fill(int b, std::vector<Array>& model, Spreading& spreading) {
    Call call;
    call.heals = b;
    Array& array = model[static_cast<std::size_t>(b)];
    for (Index i = 0; i < array.shape.bytes(); ++i) array.put(i, kHealed[i % 4]);
    spreading.heal(b);
    calls.push_back(std::move(call));
  }
  void add_check(int b, std::vector<Array>& model, Spreading& spreading) {
    Call call;
    call.check = b;
    call.failed = spreading.any(b);
    call.want = model[static_cast<std::size_t>(b)];
    calls.push_back(std::move(call));
  }
};

// A read may fail more often than it must (a message fails whole), but whoever gets bytes gets the right ones.
void check(const Call& call, AnyBuffer& buffer, bool any_failed) {
  Bytes got;
  try {
    got = buffer.read(Box(call.want.shape.extents));
  } catch (const Error& e) {
    if (e.code() != ErrorCode::kernel_failed || !any_failed) throw;
    return;
  }
  if (call.failed) throw Mismatch("what a failed kernel should have written was read without an error");
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (call.want.written[i] != 0 && got[i] != call.want.bytes[i])
      throw Mismatch("byte " + std::to_string(i) + " is wrong");
  }
}

void perform(const Program& program) {
  Options options;
  options.devices = program.team.devices;
  options.threads_per_device = 1;
  Context::in_process(program.team.ranks, options, [&](Context& context) {
    std::vector<std::unique_ptr<AnyBuffer>> buffers;
    for (const base::Shape& s : program.shapes) buffers.push_back(make_buffer(context, s));
    for (const Call& call : program.calls) {
      if (call.kernel != nullptr) start(context, buffers, call.spec, {.run = &Throwing::run}, call.kernel);
      if (call.heals >= 0) {
        const auto b = static_cast<std::size_t>(call.heals);
        buffers[b]->fill(context, Box(program.shapes[b].extents), kHealed);
      }
      if (call.check >= 0) check(call, *buffers[static_cast<std::size_t>(call.check)], program.any_failed);
    }
    try {
      context.wait();
    } catch (const Error& e) {
      if (e.code() != ErrorCode::kernel_failed || !program.any_failed) throw;
    }
  });
}

TEST(Failure, IsNeverAWrongValueAndNeverHangs) {
  const base::LogCapture quiet(base::LogLevel::error);
  for_each_seed(1000, [](std::uint64_t seed) { perform(Program(seed)); });
}

}  // namespace
}  // namespace nuna::property
