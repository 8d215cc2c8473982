// Pointers into buffers in the hands of others: the standard library's algorithms, wide registers, system calls; and the settings.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "citizen.hpp"

namespace nuna::test {
namespace {

using ::testing::HasSubstr;

constexpr Index kInts = Used::kInts;

struct Descending {
  NUNA_KERNEL void operator()(Thread t, View<int, 1> x) const {
    x(t.global(0)) = static_cast<int>(x.extent(0) - 1 - t.global(0));
  }
};

class CitizenCalls : public ::testing::TestWithParam<bool> {
 protected:
  static Context make() {
    if (!GetParam()) setenv("NUNA_FAULTS", "off", 1);
    Context made = Context::self(with_devices(2));
    unsetenv("NUNA_FAULTS");
    return made;
  }
  Context context = make();
  Buffer<int, 1> x{context, {kInts}};
  void descend() { context.launch("descending", {kInts}, block(256), Descending{}, write(x)); }
  bool faults() const { return GetParam(); }
};
INSTANTIATE_TEST_SUITE_P(Faults, CitizenCalls, ::testing::Bool(),
                         [](const auto& test) { return test.param ? "on" : "off"; });

TEST_P(CitizenCalls, AlgorithmsOfTheLibraryRunOverBlocksThatAreClosed) {
  for (int round = 0; round < 3; ++round) {
    descend();
    auto v = x.host(Access::read_write);
    std::sort(v.begin(), v.end());
    EXPECT_TRUE(std::is_sorted(v.begin(), v.end()));
    EXPECT_EQ(v(0), 0);
    EXPECT_EQ(v(kInts - 1), kInts - 1);
    std::reverse(v.begin(), v.end());
    v.close();
    context.launch("add one", {kInts}, block(256), AddOne{}, read_write(x));
    auto w = x.host(Access::read_write);
    std::rotate(w.begin(), w.begin() + 1000, w.end());
    EXPECT_EQ(w(0), kInts - 1000);
    EXPECT_EQ(std::accumulate(w.begin(), w.end(), Index{0}), kInts * (kInts + 1) / 2);
  }
}

TEST_P(CitizenCalls, BytesAreCopiedFromAndToBlocksThatAreClosed) {
  Buffer<int, 1> y(context, {kInts});
  std::vector<int> copy(static_cast<std::size_t>(kInts), -1);
  descend();
  context.fill(y, 5);
  {
    const auto from = x.host(Access::read);
    std::memcpy(copy.data(), from.data(), static_cast<std::size_t>(kInts) * sizeof(int));
    EXPECT_EQ(copy.front(), kInts - 1);
    EXPECT_EQ(copy.back(), 0);
    const auto to = y.host(Access::read_write);
    std::memcpy(to.data() + 3, from.data() + 70'001, 500'000 * sizeof(int));  // both closed
    EXPECT_EQ(to(2), 5);
    EXPECT_EQ(to(3), kInts - 1 - 70'001);
    EXPECT_EQ(to(500'002), kInts - 1 - 570'000);
    EXPECT_EQ(to(500'003), 5);
  }
  descend();
  {
    const auto v = x.host(Access::read_write);
    std::memmove(v.data() + 1, v.data(), (kInts - 1) * sizeof(int));  // backwards
    EXPECT_EQ(v(0), kInts - 1);
    EXPECT_EQ(v(kInts - 1), 1);
    std::copy(v.begin() + 2, v.end(), v.begin());
    EXPECT_EQ(v(0), kInts - 2);
    std::memset(v.data() + kInts / 2, 0, 4);
    EXPECT_EQ(std::memcmp(v.data(), copy.data() + 1, 1000), 0);
  }
  context.launch("add one", {kInts}, block(256), AddOne{}, read_write(x));
  EXPECT_EQ(x.host(Access::read)(0), kInts - 1);
}

#if defined(__x86_64__)
// Registers and flags are as before after a fault in the middle of it.
[[gnu::target("avx2")]] long long sum_wide(const int* p, Index n) {
  __m256i low = _mm256_setzero_si256();
  __m256i high = _mm256_setzero_si256();
  for (Index i = 0; i + 8 <= n; i += 8) {
    const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + i));
    low = _mm256_add_epi64(low, _mm256_cvtepi32_epi64(_mm256_castsi256_si128(v)));
    high = _mm256_add_epi64(high, _mm256_cvtepi32_epi64(_mm256_extracti128_si256(v, 1)));
  }
  alignas(32) long long parts[4];
  _mm256_store_si256(reinterpret_cast<__m256i*>(parts), _mm256_add_epi64(low, high));
  return parts[0] + parts[1] + parts[2] + parts[3];
}

[[gnu::target("avx2")]] void add_wide(int* p, Index n) {
  for (Index i = 0; i + 8 <= n; i += 8) {
    auto* const at = reinterpret_cast<__m256i*>(p + i);
    _mm256_storeu_si256(at, _mm256_add_epi32(_mm256_loadu_si256(at), _mm256_set1_epi32(2)));
  }
}

TEST_P(CitizenCalls, WideRegistersSurviveAFault) {
  if (!__builtin_cpu_supports("avx2")) return;
  constexpr Index kWide = kInts - 8;
  for (const Index shift : {0, 1, 3}) {  // loads that lie across two blocks
    descend();
    auto v = x.host(Access::read_write);
    long long expected = 0;
    for (Index i = shift; i < shift + kWide; ++i) expected += kInts - 1 - i;
    EXPECT_EQ(sum_wide(v.data() + shift, kWide), expected);
    v.close();
    descend();
    auto w = x.host(Access::read_write);
    add_wide(w.data() + shift, kWide);
    EXPECT_EQ(sum_wide(w.data() + shift, kWide), expected + 2 * kWide);
  }
}
#endif

// ---- system calls ----

class Scratch {
 public:
  Scratch() : descriptor_(mkstemp(name_.data())) { EXPECT_GE(descriptor_, 0); }
  ~Scratch() {
    close(descriptor_);
    unlink(name_.c_str());
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  int descriptor() const { return descriptor_; }
  const std::string& name() const { return name_; }

 private:
  std::string name_ = ::testing::TempDir() + "nuna-citizen-XXXXXX";
  int descriptor_;
};

// errno of a call, or 0.
template <class F>
int error_of(F call) {
  errno = 0;
  return call() < 0 ? errno : 0;
}

TEST_P(CitizenCalls, SystemCallsRefuseClosedBlocksUntilTheyAreAcquired) {
  const Scratch file;
  const std::size_t bytes = kInts * sizeof(int);
  const int refused = faults() ? EFAULT : 0;  // the kernel does not fault: it says so
  descend();
  {
    auto v = x.host(Access::read_write);
    EXPECT_EQ(error_of([&] { return ::write(file.descriptor(), v.data(), bytes); }), refused);
    v.acquire();
    EXPECT_EQ(::pwrite(file.descriptor(), v.data(), bytes, 0), static_cast<ssize_t>(bytes));
  }
  context.fill(x, 0);
  {
    auto v = x.host(Access::read_write);
    EXPECT_EQ(error_of([&] { return ::pread(file.descriptor(), v.data(), bytes, 0); }), refused);
    v.acquire();
    EXPECT_EQ(::pread(file.descriptor(), v.data(), bytes, 0), static_cast<ssize_t>(bytes));
    EXPECT_EQ(v(0), kInts - 1);
    EXPECT_EQ(v(kInts - 1), 0);
  }
  context.launch("add one", {kInts}, block(256), AddOne{}, read_write(x));
  EXPECT_EQ(x.host(Access::read)(10), kInts - 10) << "what the system call wrote is seen by a launch";
  {
    auto v = x.host(Access::read_write);
    const Box part{{kInts / 2, kInts / 2 + 100}};
    v.acquire(part);
    EXPECT_EQ(::pread(file.descriptor(), &v(kInts / 2), 100 * sizeof(int), 0), ssize_t{100 * sizeof(int)});
    EXPECT_EQ(v(kInts / 2 + 1), kInts - 2);
    v.release();
    EXPECT_EQ(v(kInts / 2 + 1), kInts - 2);
  }
}

TEST_P(CitizenCalls, AWrittenViewIsOpenForSystemCallsFromTheStart) {
  const Scratch file;
  std::vector<int> contents(static_cast<std::size_t>(kInts), 8);
  const std::size_t bytes = kInts * sizeof(int);
  ASSERT_EQ(::write(file.descriptor(), contents.data(), bytes), static_cast<ssize_t>(bytes));
  context.fill(x, 0);
  {
    const auto v = x.host(Access::write);
    ASSERT_EQ(::pread(file.descriptor(), v.data(), bytes, 0), static_cast<ssize_t>(bytes));
  }
  context.launch("add one", {kInts}, block(256), AddOne{}, read_write(x));
  EXPECT_EQ(x.host(Access::read)(kInts - 1), 9);
}

TEST_P(CitizenCalls, StreamsReadThroughBuffersOfTheirOwn) {
  const Scratch file;
  std::vector<int> contents(static_cast<std::size_t>(kInts));
  std::iota(contents.begin(), contents.end(), 0);
  const std::size_t bytes = kInts * sizeof(int);
  ASSERT_EQ(::write(file.descriptor(), contents.data(), bytes), static_cast<ssize_t>(bytes));
  context.fill(x, -1);
  auto v = x.host(Access::read_write);
  std::FILE* const in = std::fopen(file.name().c_str(), "re");
  for (Index i = 0; i < kInts; i += 100) {  // small pieces are copied out of the stream's buffer
    const auto n = static_cast<std::size_t>(std::min<Index>(100, kInts - i));
    ASSERT_EQ(std::fread(v.data() + i, sizeof(int), n, in), n) << i;
  }
  std::fclose(in);
  EXPECT_EQ(v(kInts - 1), kInts - 1);
  v.close();
  context.fill(x, -1);
  auto w = x.host(Access::read_write);
  w.acquire();  // large ones are read by the kernel
  std::ifstream stream(file.name(), std::ios::binary);
  stream.read(reinterpret_cast<char*>(w.data()), static_cast<std::streamsize>(bytes));
  EXPECT_TRUE(stream.good());
  EXPECT_EQ(w(kInts - 1), kInts - 1);
}

// ---- settings ----

TEST(CitizenSettings, OfFaultsAndBlocksAreCheckedWhenAContextIsMade) {
  const auto refused = [](const char* name, const char* value) {
    setenv(name, value, 1);
    std::string text;
    EXPECT_EQ(code_of([] { Context::self(); }, &text), ErrorCode::bad_setting) << value;
    EXPECT_THAT(text, HasSubstr(name));
    unsetenv(name);
  };
  for (const char* const value : {"sometimes", "-1", "2", "offf"}) refused("NUNA_FAULTS", value);
  for (const char* const value :
       {"5000", "2K", "4M", "0", "-4096", "64 potatoes", "1e5", "99999999999999999999"}) {
    refused("NUNA_BLOCK", value);
  }
  for (const char* const value : {"4K", "4096", "64 KiB", "2M"}) {
    setenv("NUNA_BLOCK", value, 1);
    Used used;
    used.use();
    used.use();
    unsetenv("NUNA_BLOCK");
  }
}

}  // namespace
}  // namespace nuna::test
