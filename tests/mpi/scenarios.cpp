// What ranks may do wrong, and what they may do beside Nuna; one name on the command line, run under mpirun. With a second
// one - single, funneled, serialized - the program initialises MPI itself, for that many threads.
// The scripts tests/integration/mpi_*.sh say what must come of it. Exit status: 0 when the results are right, 1 with the
// Error's text on standard error.

#include <mpi.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "cluster/mpi/mpi_communicator.hpp"
#include "nuna/nuna.hpp"

namespace {

using nuna::block;
using nuna::Buffer;
using nuna::Context;
using nuna::Index;
using nuna::Thread;
using nuna::View;

constexpr Index kSize = 1000;

struct SetIndex {
  NUNA_KERNEL void operator()(Thread t, View<int, 1> x) const {
    x(t.global(0)) = static_cast<int>(t.global(0));
  }
};
struct Neighbours {
  NUNA_KERNEL void operator()(Thread t, View<const int, 1> in, View<int, 1> out) const {
    const Index i = t.global(0);
    const Index last = in.extent(0) - 1;
    out(i) = (in(i > 0 ? i - 1 : i) + in(i) + in(i < last ? i + 1 : i)) % 1009;
  }
};
struct FailsOnOneRank {
  NUNA_KERNEL void operator()(Thread t, View<int, 1> x) const {
    x(t.global(0)) = 1;
    if (t.global(0) == kSize - 1) throw std::runtime_error("no luck");
  }
};

struct SlowOnOneRank {
  NUNA_KERNEL void operator()(Thread t, View<int, 1> x) const {
    x(t.global(0)) = 1;
    if (t.global(0) == kSize - 1) std::this_thread::sleep_for(std::chrono::seconds(6));
  }
};

struct Average {
  NUNA_KERNEL void operator()(Thread t, View<const float, 2> in, View<float, 2> out) const {
    const auto [i, j] = t.global<2>();
    const Index above = i > 0 ? i - 1 : i;
    out(i, j) = 0.5F * (in(above, j) + in(i, j));
  }
};

struct Program {
  explicit Program(Context& c) : context(c), a(c, {kSize}), b(c, {kSize}) {
    context.launch("set", {kSize}, block(1), SetIndex{}, nuna::write(a));
    std::iota(expected.begin(), expected.end(), 0);
  }
  bool last() const { return context.rank() == context.ranks() - 1; }
  void step(const char* name) {
    context.launch(name, {kSize}, block(1), Neighbours{}, nuna::read(a, nuna::halo(1)), nuna::write(b));
    std::swap(a, b);
    std::vector<int> next(expected.size());
    for (std::size_t i = 0; i < next.size(); ++i) {
      next[i] =
          (expected[i > 0 ? i - 1 : i] + expected[i] + expected[i + 1 < next.size() ? i + 1 : i]) % 1009;
    }
    expected = next;
  }
  void check() {
    auto v = a.host(nuna::Access::read);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (v(i) != expected[i]) throw std::logic_error("element " + std::to_string(i) + " is wrong");
    }
  }

  Context& context;
  Buffer<int, 1> a;
  Buffer<int, 1> b;
  std::vector<int> expected = std::vector<int>(kSize);
};

void run_for_ever(Program& p) {
  std::printf("started\n");
  std::fflush(stdout);
  for (;;) {
    p.step("step");
    if (p.context.sum(1) < 1) return;
  }
}

// The same with messages that take a while, and no call that waits.
void launch_for_ever(Program& p) {
  std::puts("started");
  std::fflush(stdout);
  constexpr Index kRows = 8;
  constexpr Index kColumns = 300'000;
  Buffer<float, 2> now(p.context, {kRows, kColumns});
  Buffer<float, 2> next(p.context, {kRows, kColumns});
  p.context.fill(now, 1.0F);
  for (;;) {
    p.context.launch("large", {kRows, kColumns}, block(1, 1), Average{}, nuna::read(now, nuna::halo(1)),
                     nuna::write(next));
    swap(now, next);
  }
}

// Halos and whole rows between two devices of every rank, large enough for any route.
void all_routes(Program& p) {
  constexpr Index kRows = 64;
  constexpr Index kColumns = 100'000;
  nuna::Options options;
  options.devices = 2;
  Context context = Context::on(MPI_COMM_WORLD, options);
  Buffer<float, 2> now(context, {kRows, kColumns});
  Buffer<float, 2> next(context, {kRows, kColumns});
  {
    auto view = now.host(nuna::Access::write);
    for (Index i = 0; i < kRows; ++i) {
      for (Index j = 0; j < kColumns; ++j) view(i, j) = static_cast<float>(i * 8 + j % 8);
    }
  }
  constexpr int kSteps = 4;
  for (int s = 0; s < kSteps; ++s) {
    context.launch("average", {kRows, kColumns}, block(1, 1), Average{}, nuna::read(now, nuna::halo(1)),
                   nuna::write(next));
    swap(now, next);
  }
  std::vector<float> expected(kRows);
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = static_cast<float>(i * 8);
  for (int s = 0; s < kSteps; ++s) {
    for (std::size_t i = expected.size(); i-- > 1;) expected[i] = 0.5F * (expected[i - 1] + expected[i]);
  }
  auto view = now.host(nuna::Access::read);
  for (Index i = 0; i < kRows; ++i) {
    for (Index j = 0; j < kColumns; ++j) {
      if (view(i, j) != expected[static_cast<std::size_t>(i)] + static_cast<float>(j % 8))
        throw std::logic_error("row " + std::to_string(i) + " is wrong");
    }
  }
  p.context.wait();
}

// The user's own messages, on the same communicator and with the tags that Nuna might use, from two threads.
void users_traffic(Program& p) {
  int ranks = 0;
  int rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const auto ring = [&](int tag) {
    for (int i = 0; i < 300; ++i) {
      int sent = rank * 1000 + i;
      int got = 0;
      const int left = (rank + ranks - 1) % ranks;
      MPI_Sendrecv(&sent, 1, MPI_INT, (rank + 1) % ranks, tag, &got, 1, MPI_INT, left, tag, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
      if (got != left * 1000 + i) std::abort();
    }
  };
  std::thread other([&] { ring(0); });
  for (int i = 0; i < 50; ++i) {
    p.step("step");
    ring(1);
  }
  other.join();
}

void sub_communicators(Program& p) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  {
    Context context = Context::on(half);
    Program mine(context);
    for (int i = 0; i < 20; ++i) {
      mine.step("of the half");
      p.step("of all");
    }
    mine.check();
  }
  MPI_Comm_free(&half);
}

// Messages in several pieces, as those above 1 GiB are; the last of them is a failure.
void pieces(Program&) {
  namespace cluster = nuna::cluster;
  constexpr std::size_t kBytes = 2'500;
  const auto communicator = cluster::mpi::make_mpi(MPI_COMM_WORLD, {std::chrono::seconds(5), 1'000});
  std::vector<std::byte> bytes(kBytes);
  for (std::size_t i = 0; i < kBytes; ++i) bytes[i] = static_cast<std::byte>(i % 251);
  cluster::Envelope envelope;
  envelope.call = "pieces";
  const auto finish = [](auto& message) {
    while (!message->test()) std::this_thread::yield();
  };
  if (communicator->rank().value == 0) {
    auto whole = communicator->send({1}, envelope, bytes);
    envelope.failure = "no luck";
    envelope.failure_code = nuna::ErrorCode::out_of_memory;
    auto failed = communicator->send({1}, envelope, bytes);
    finish(whole);
    finish(failed);
    envelope.failure.clear();
  } else {
    std::vector<std::byte> into(kBytes);
    auto whole = communicator->receive({0}, envelope, into);
    auto failed = communicator->receive({0}, envelope, into);
    finish(whole);
    if (into != bytes || !whole->envelope().failure.empty()) throw std::logic_error("the pieces are wrong");
    finish(failed);
    if (failed->envelope().failure != "no luck" ||
        failed->envelope().failure_code != nuna::ErrorCode::out_of_memory)
      throw std::logic_error("the failure is wrong");
  }
  const auto all = communicator->allgather(envelope, bytes);
  if (all.size() != 2 || all[0] != bytes || all[1] != bytes)
    throw std::logic_error("the gathered pieces are wrong");
}

// One message of 2.2 GiB, from rank 0, where one thread writes all of it: more bytes than an int counts.
struct Numbers {
  NUNA_KERNEL void operator()(Thread, View<std::uint64_t, 1> x) const {
    for (Index i = 0; i < x.extent(0); ++i) x(i) = static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15U;
  }
};
// Halos that are sent and received in place: rows of 312 KiB with a frame that is not written.
struct FramedStep {
  NUNA_KERNEL void operator()(Thread t, View<const float, 2> in, View<float, 2> out) const {
    const auto [i, j] = t.global<2>();
    out(i, j) = 0.5F * in(i - 1, j) - 0.25F * in(i + 1, j + 8) + 0.125F * in(i, j - 8);
  }
};
struct FramedStart {
  NUNA_KERNEL void operator()(Thread t, View<float, 2> x, View<float, 2> y) const {
    const auto [i, j] = t.global<2>();
    x(i, j) = y(i, j) = static_cast<float>((i * 31 + j * 7) % 1009);
  }
};
std::vector<float> framed(Context& context) {
  constexpr Index kRows = 40;
  constexpr Index kColumns = 80'000;
  Buffer<float, 2> now(context, {kRows, kColumns});
  Buffer<float, 2> next(context, {kRows, kColumns});
  context.launch("start", {kRows, kColumns}, block(1, 1), FramedStart{}, nuna::write(now), nuna::write(next));
  for (int step = 0; step < 40; ++step) {
    context.launch("framed",
                   nuna::Domain(nuna::Box{{1, kRows - 1}, {8, kColumns - 8}}).within({kRows, kColumns}),
                   block(1, 1), FramedStep{}, nuna::read(now, nuna::halo(1, 8)), nuna::write(next));
    swap(now, next);
  }
  const auto view = now.host(nuna::Access::read);
  return {view.begin(), view.end()};
}
void framed_halos(Program& p) {
  Context alone = Context::self();
  if (framed(p.context) != framed(alone)) throw std::logic_error("the framed halos are wrong");
}

void huge(Program& p) {
  constexpr Index kNumbers = 295'279'001;
  Buffer<std::uint64_t, 1> x(p.context, {kNumbers});
  p.context.launch("numbers", {1}, block(1), Numbers{}, nuna::write(x, nuna::whole()));
  p.context.wait();
  p.context.sum(1);  // the other rank waits for the kernel here
  const auto start = std::chrono::steady_clock::now();
  const auto view = x.host_at(1, nuna::Box{{0, kNumbers}});
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  if (p.context.rank() != 1) return;
  std::printf("%lld bytes in %.2f s\n", static_cast<long long>(kNumbers * 8), seconds.count());
  for (Index i = 0; i < kNumbers; ++i) {
    if (view(i) != static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15U)
      throw std::logic_error("number " + std::to_string(i) + " is wrong");
  }
}

const std::map<std::string, std::function<void(Program&)>>& scenarios() {
  static const std::map<std::string, std::function<void(Program&)>> all{
      {"right",
       [](Program& p) {
         for (int i = 0; i < 100; ++i) p.step("step");
       }},
      {"traffic", users_traffic},
      {"halves", sub_communicators},
      {"pieces", pieces},
      {"framed", framed_halos},
      {"routes", all_routes},
      {"huge", huge},
      // the five cases of agreement
      {"skipped",
       [](Program& p) {
         if (!p.last()) p.step("left out");
         p.step("after");
         p.context.wait();
       }},
      {"swapped",
       [](Program& p) {
         p.step(p.last() ? "two" : "one");
         p.step(p.last() ? "one" : "two");
         p.context.wait();
       }},
      {"other size",
       [](Program& p) {
         p.context.fill(p.a, nuna::Box{{0, p.last() ? 10 : 20}}, 1);
         p.step("after");
         p.context.wait();
       }},
      {"early exit",
       [](Program& p) {
         if (p.last()) return;
         p.step("after");
         p.context.wait();
       }},
      {"own barrier",
       [](Program& p) {
         if (p.last()) MPI_Barrier(MPI_COMM_WORLD);
         p.step("after");
         p.context.wait();
         MPI_Barrier(MPI_COMM_WORLD);
       }},
      // failures of one rank
      {"kernel fails",
       [](Program& p) {
         p.context.launch("unlucky", {kSize}, block(1), FailsOnOneRank{}, nuna::write(p.a));
         p.step("after");
         p.context.wait();
       }},
      {"throws",
       [](Program& p) {
         if (p.last()) throw std::runtime_error("the last rank gives up");
         p.step("after");
         p.context.wait();
       }},
      {"vanishes",
       [](Program& p) {
         if (p.last()) ::_exit(3);
         p.step("after");
         p.context.wait();
       }},
      {"killed",
       [](Program& p) {
         if (p.last()) ::raise(SIGKILL);
         p.step("after");
         p.context.wait();
       }},
      {"for ever", run_for_ever},
      {"for ever large", launch_for_ever},
      {"another thread",
       [](Program& p) {
         std::thread([&] {
           try {
             p.context.wait();
           } catch (const std::exception& e) {
             std::fprintf(stderr, "scenario: %s\n", e.what());
           }
         }).join();
       }},
      {"long kernel",  // on one rank, which waits for it, while the others wait for that rank
       [](Program& p) {
         p.context.launch("slow", {kSize}, block(1), SlowOnOneRank{}, nuna::write(p.b));
         if (p.last()) p.context.wait();
         p.context.sum(1);
         p.step("after");
       }},
      {"uneven",  // all ranks but the last come late
       [](Program& p) {
         for (int i = 0; i < 20; ++i) {
           p.step("step");
           if (!p.last()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
         }
       }},
      {"gone at the end",
       [](Program& p) {
         p.step("step");
         if (p.last()) std::atexit([] { ::raise(SIGKILL); });
       }},
      {"finalizes",
       [](Program& p) {
         for (int i = 0; i < 20; ++i) p.step("step");
         MPI_Finalize();
       }},
  };
  return all;
}

void initialise(const std::string& threads) {
  const std::map<std::string, int> levels{{"single", MPI_THREAD_SINGLE},
                                          {"funneled", MPI_THREAD_FUNNELED},
                                          {"serialized", MPI_THREAD_SERIALIZED}};
  int given = 0;
  MPI_Init_thread(nullptr, nullptr, levels.at(threads), &given);
  if (given != levels.at(threads)) std::fprintf(stderr, "scenario: this MPI gives another level\n");
}

}  // namespace

int main(int argc, char** argv) {
  const auto chosen = scenarios().find(argc > 1 ? argv[1] : "");
  if (chosen == scenarios().end()) {
    for (const auto& [name, run] : scenarios()) std::printf("%s\n", name.c_str());
    return 2;
  }
  try {
    if (argc > 2) initialise(argv[2]);
    {
      Context context = Context::world(argc, argv);
      Program program(context);
      chosen->second(program);
      int finalised = 0;
      MPI_Finalized(&finalised);
      if (finalised == 0) program.check();
    }
    if (argc > 2) MPI_Finalize();
    return EXIT_SUCCESS;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "scenario: %s\n", e.what());
    return EXIT_FAILURE;
  }
}
