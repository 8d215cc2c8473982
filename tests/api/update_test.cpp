// detail::update: new bytes go where the launches before have needed the old ones.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <thread>
#include <vector>

#include "nuna/update.hpp"
#include "pointers.hpp"

namespace nuna::test {
namespace {

constexpr Index kBytes = 300'000;
constexpr Index kHalo = 100;

using Bytes = std::vector<unsigned char>;
using ByteBuffer = Buffer<unsigned char, 1>;

/// What is `halo` bytes before and behind.
struct SumOfDistant {
  Index halo;
  NUNA_KERNEL void operator()(Thread t, View<const unsigned char, 1> in, View<unsigned char, 1> out) const {
    const Index i = t.global(0);
    const Index last = in.extent(0) - 1;
    out(i) = static_cast<unsigned char>(in(i > halo ? i - halo : 0) + in(i + halo < last ? i + halo : last));
  }
};

Bytes sums_of(const Bytes& in) {
  Bytes out(in.size());
  const auto last = static_cast<Index>(in.size()) - 1;
  for (Index i = 0; i <= last; ++i) {
    const Index left = std::max<Index>(i - kHalo, 0);
    const Index right = std::min(i + kHalo, last);
    out[static_cast<std::size_t>(i)] =
        static_cast<unsigned char>(in[static_cast<std::size_t>(left)] + in[static_cast<std::size_t>(right)]);
  }
  return out;
}

Bytes numbered(int seed) {
  Bytes bytes(kBytes);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<unsigned char>(i * static_cast<std::size_t>(seed) + i / 251);
  return bytes;
}

/// What a launch would have to bring to its devices.
Index brought(const Context& context) {
  Index sum = 0;
  for (const char* const route : {"host_to_device", "device_to_device", "receive"}) {
    const std::string all = context.stats();
    const std::string name = "\"" + std::string(route) + "\":";
    sum += std::atoll(all.c_str() + all.find(name) + name.size());
  }
  return sum;
}

/// The first byte that is another one, and both: not all of them.
std::string difference(const Bytes& found, const Bytes& expected) {
  const auto [at, of] = std::mismatch(found.begin(), found.end(), expected.begin(), expected.end());
  if (at == found.end()) return "";
  return "byte " + std::to_string(at - found.begin()) + " is " + std::to_string(*at) + ", not " +
         std::to_string(*of);
}

bool update(Context& context, ByteBuffer& buffer, const std::vector<detail::NewBytes>& rows) {
  return detail::update(context.state(), buffer.handle(), rows, {"here", 1});
}
bool update(Context& context, ByteBuffer& buffer, const Bytes& bytes, Index first = 0) {
  return update(context, buffer, {{{first, first + static_cast<Index>(bytes.size())}, bytes.data()}});
}

/// An input and an output, with which devices have worked once.
struct Program {
  Context& context;
  ByteBuffer in{context, {kBytes}};
  ByteBuffer out{context, {kBytes}};

  explicit Program(Context& of) : context(of) {
    std::ranges::fill(in.host(Access::write), static_cast<unsigned char>(1));
    launch();
  }
  void launch() {
    context.launch("sums", {kBytes}, block(1), SumOfDistant{kHalo}, read(in, halo(kHalo)), write(out));
    context.wait();
  }
  Bytes result() { return got(out); }
  static Bytes got(ByteBuffer& from) {
    const auto view = from.host(Access::read);
    return {view.begin(), view.end()};
  }
};

/// A launch finds `bytes` where it needs them, and so does the host.
void launch_moves_nothing(const Context& context, Program& program, const Bytes& bytes) {
  const Index before = brought(context);
  program.launch();
  EXPECT_EQ(brought(context), before);
  EXPECT_EQ(difference(program.result(), sums_of(bytes)), "");
  EXPECT_EQ(difference(Program::got(program.in), bytes), "");
}

TEST(Update, LeavesTheNextLaunchNothingToBring) {
  Context context = Context::self(with_devices(3));
  Program program(context);
  const Bytes bytes = numbered(7);
  ASSERT_TRUE(update(context, program.in, bytes));
  EXPECT_EQ(counted(context, "updates"),
            "\"updates\":{\"count\":1,\"bytes\":" + std::to_string(kBytes + 4 * kHalo) + "}");
  launch_moves_nothing(context, program, bytes);
}

TEST(Update, IsLeftToTheHostWhereNoDeviceHasCopies) {
  Context context = Context::self(with_devices(3));
  ByteBuffer in(context, {kBytes});
  EXPECT_FALSE(update(context, in, numbered(1)));
  std::ranges::fill(in.host(Access::write), static_cast<unsigned char>(1));
  EXPECT_FALSE(update(context, in, numbered(1)));
  EXPECT_EQ(difference(Program::got(in), Bytes(kBytes, 1)), "");
}

TEST(Update, WritesOnTheHostWhatDevicesHaveNoCopyOf) {
  Context context = Context::self(with_devices(2));
  Program program(context);
  program.in.host({{0, 1000}}, Access::write)(5) = 0;
  const Bytes bytes = numbered(3);
  ASSERT_TRUE(update(context, program.in, bytes));
  EXPECT_EQ(difference(Program::got(program.in), bytes), "");
  program.launch();
  EXPECT_EQ(difference(program.result(), sums_of(bytes)), "");
}

TEST(Update, OfSomeBytesLeavesTheOthers) {
  Context context = Context::self(with_devices(3));
  Program program(context);
  Bytes expected(kBytes, 1);
  for (const Index first : {Index{0}, Index{99'999}, Index{100'001}, kBytes - 10}) {
    const Bytes few(10, static_cast<unsigned char>(first));
    ASSERT_TRUE(update(context, program.in, few, first));
    std::copy(few.begin(), few.end(), expected.begin() + first);
  }
  launch_moves_nothing(context, program, expected);
}

TEST(Update, OfRowsLeavesWhatLiesBetween) {
  Context context = Context::self(with_devices(3));
  Program program(context);
  const Bytes bytes = numbered(5);
  Bytes expected(kBytes, 1);
  std::vector<detail::NewBytes> rows;
  for (Index row = 0; row < 300; ++row) {
    rows.push_back({{row * 1000, row * 1000 + 700}, bytes.data() + row * 900});
    std::copy_n(bytes.begin() + row * 900, 700, expected.begin() + row * 1000);
  }
  ASSERT_TRUE(update(context, program.in, rows));
  launch_moves_nothing(context, program, expected);
}

TEST(Update, FillsWithOneValue) {
  Context context = Context::self(with_devices(3));
  Program program(context);
  ASSERT_TRUE(update(context, program.in, {{{10, 200'000}, nullptr, std::byte{9}}}));
  Bytes expected(kBytes, 1);
  std::fill(expected.begin() + 10, expected.begin() + 200'000, static_cast<unsigned char>(9));
  launch_moves_nothing(context, program, expected);
}

TEST(Update, IsSeenByPlainPointersAndKeepsWhatTheyWrote) {
  Context context = Context::self(with_devices(2));
  Program program(context);
  unsigned char* const p = program.in.data();
  EXPECT_EQ(p[0] + p[kBytes - 1], 2);
  p[150'000] = 77;
  const Bytes bytes = numbered(2);
  ASSERT_TRUE(update(context, program.in, Bytes(bytes.begin(), bytes.begin() + 100'000)));
  Bytes expected(kBytes, 1);
  std::copy_n(bytes.begin(), 100'000, expected.begin());
  expected[150'000] = 77;
  EXPECT_EQ(difference(Bytes(p, p + kBytes), expected), "");
  p[3] = 78;
  expected[3] = 78;
  program.launch();
  EXPECT_EQ(difference(program.result(), sums_of(expected)), "");
}

struct CopyWhenToldTo {
  std::atomic<bool>* go;
  NUNA_KERNEL void operator()(Thread t, View<const unsigned char, 1> in, View<unsigned char, 1> out) const {
    while (!go->load()) std::this_thread::yield();
    out(t.global(0)) = in(t.global(0));
  }
};

TEST(Update, ComesAfterLaunchesThatReadTheOldBytes) {
  Context context = Context::self(with_devices(2));
  Program program(context);
  std::atomic<bool> go{false};
  context.launch("copy", {kBytes}, block(1), CopyWhenToldTo{&go}, read(program.in), write(program.out));
  std::thread waker([&go] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    go.store(true);
  });
  ASSERT_TRUE(update(context, program.in, numbered(4)));
  waker.join();
  EXPECT_EQ(difference(program.result(), Bytes(kBytes, 1)), "");
  EXPECT_EQ(difference(Program::got(program.in), numbered(4)), "");
}

TEST(Update, OfSeveralRanksGoesToTheDevicesOfEach) {
  Context::in_process(3, with_devices(2), [](Context& context) {
    Program program(context);
    const Bytes bytes = numbered(7);
    ASSERT_TRUE(update(context, program.in, bytes));
    launch_moves_nothing(context, program, bytes);
    ASSERT_TRUE(update(context, program.in, {{{10, 2000}, nullptr, std::byte{9}}}));
    Bytes expected = bytes;
    std::fill(expected.begin() + 10, expected.begin() + 2000, static_cast<unsigned char>(9));
    program.launch();
    EXPECT_EQ(difference(program.result(), sums_of(expected)), "");
  });
}

TEST(Update, OfRanksWithDifferentBytesDoesNothing) {
  Context::in_process(2, with_devices(2), [](Context& context) {
    Program program(context);
    Bytes bytes = numbered(7);
    if (context.rank() == 1) bytes[200'000] ^= 1;
    EXPECT_FALSE(update(context, program.in, bytes));
    EXPECT_EQ(difference(Program::got(program.in), Bytes(kBytes, 1)), "");
  });
}

}  // namespace
}  // namespace nuna::test
