// Pointers into buffers in the life of a process: children, limits, small stacks, handlers of other signals, the standard
// library's algorithms, and system calls.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/log.hpp"
#include "citizen.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace nuna::test {
namespace {

using ::testing::ExitedWithCode;
using ::testing::HasSubstr;
using ::testing::KilledBySignal;
using ::testing::SizeIs;

constexpr Index kInts = Used::kInts;

struct Descending {
  NUNA_KERNEL void operator()(Thread t, View<int, 1> x) const {
    x(t.global(0)) = static_cast<int>(x.extent(0) - 1 - t.global(0));
  }
};

class CitizenProcess : public ::testing::TestWithParam<bool> {
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
INSTANTIATE_TEST_SUITE_P(Faults, CitizenProcess, ::testing::Bool(),
                         [](const auto& test) { return test.param ? "on" : "off"; });

TEST_P(CitizenProcess, AlgorithmsOfTheLibraryRunOverBlocksThatAreClosed) {
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

TEST_P(CitizenProcess, BytesAreCopiedFromAndToBlocksThatAreClosed) {
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

TEST_P(CitizenProcess, WideRegistersSurviveAFault) {
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

TEST_P(CitizenProcess, SystemCallsRefuseClosedBlocksUntilTheyAreAcquired) {
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

TEST_P(CitizenProcess, AWrittenViewIsOpenForSystemCallsFromTheStart) {
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

TEST_P(CitizenProcess, StreamsReadThroughBuffersOfTheirOwn) {
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

// ---- children and limits ----

#if !defined(NUNA_TEST_SANITIZED)

class CitizenProcessDeathTest : public ::testing::Test {
 protected:
  void SetUp() override { ::testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

int status_of(pid_t child) {
  int status = 0;
  demand(waitpid(child, &status, 0) == child, "waitpid");
  return status;
}

// How a child of a fork ends.
int in_child(const std::function<void()>& body) {
  const pid_t child = fork();
  demand(child >= 0, "fork");
  if (child == 0) {
    hurry(20);
    body();
    _exit(0);
  }
  return status_of(child);
}

bool killed_by_segv(int status) { return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV; }
bool exited(int status, int code) { return WIFEXITED(status) && WEXITSTATUS(status) == code; }

void leaves(int) { _exit(55); }

TEST_F(CitizenProcessDeathTest, AForkedChildHasNoPointersAndTheParentGoesOn) {
  const auto forks = [](bool handler) {
    hurry();
    if (handler) signal(SIGSEGV, &leaves);
    Used used;
    used.use();
    for (int round = 0; round < 3; ++round) {
      const int touched = in_child([&] { static_cast<void>(*static_cast<volatile int*>(used.p)); });
      demand(handler ? exited(touched, 55) : killed_by_segv(touched), "a touch in the child is a fault");
      const int crashed = in_child(&crash);
      demand(handler ? exited(crashed, 55) : killed_by_segv(crashed), "so is one elsewhere");
      demand(exited(in_child([] {}), 0), "a child that touches nothing");
      used.use();
    }
    _exit(0);
  };
  EXPECT_EXIT(forks(false), ExitedWithCode(0), "");
  EXPECT_EXIT(forks(true), ExitedWithCode(0), "");
}

TEST_F(CitizenProcessDeathTest, AForkedChildMayMakeAContextOfItsOwn) {
  const auto forks = [](bool handler) {
    hurry();
    if (handler) signal(SIGSEGV, &leaves);
    Used used;
    used.use();
    const auto own = [&](bool touches) {
      Used mine;
      for (int i = 0; i < 3; ++i) mine.use();
      if (touches) static_cast<void>(*static_cast<volatile int*>(used.p));  // still its parent's
      if (touches) _exit(3);
    };
    demand(exited(in_child([&] { own(false); }), 0), "a Context in the child");
    const int touched = in_child([&] { own(true); });
    // Its addresses are free in the child; if the child's own memory lies there now, it is no fault. It does not hang.
    demand(exited(touched, 3) || (handler ? exited(touched, 55) : killed_by_segv(touched)), "the touch ends");
    used.use();
    _exit(0);
  };
  EXPECT_EXIT(forks(false), ExitedWithCode(0), "");
  EXPECT_EXIT(forks(true), ExitedWithCode(0), "");
}

[[gnu::noinline]] pid_t borrowed_child() {
  const pid_t child = vfork();  // NOLINT(clang-analyzer-security.insecureAPI.vfork)
  if (child == 0) {
    execl("/bin/true", "true", nullptr);
    _exit(127);
  }
  return child;
}

TEST_F(CitizenProcessDeathTest, ChildrenThatExecuteAnotherProgramAreItsOwn) {
  const auto executes = [] {
    hurry();
    Used used;
    std::atomic<bool> over{false};
    std::thread other([&] {  // touches meanwhile
      Buffer<int, 1> y(used.context, {kInts});
      while (!over.load()) {
        used.context.fill(y, 3);
        demand(y.data()[77'777] == 3, "the other thread's bytes");
      }
    });
    const auto shell = [](const char* command) {
      execl("/bin/sh", "sh", "-c", command, nullptr);
      _exit(127);
    };
    for (int round = 0; round < 5; ++round) {
      demand(exited(in_child([&] { shell("exit 3"); }), 3), "fork and exec");
      demand(killed_by_segv(in_child([&] { shell("kill -SEGV $$"); })),
             "the signal is the default one's after exec");
      demand(exited(in_child([&] { shell("grep -q nuna-host /proc/self/maps && exit 1; exit 4"); }), 4),
             "and nothing is left of the mappings");
      demand(exited(std::system("exit 5"), 5), "system");  // NOLINT(cert-env33-c)
      std::FILE* const pipe = popen("echo words", "re");   // NOLINT(cert-env33-c)
      char line[16] = "";
      demand(std::fgets(line, sizeof line, pipe) != nullptr && std::strcmp(line, "words\n") == 0, "popen");
      pclose(pipe);
      pid_t spawned = 0;
      char name[] = "true";
      char* arguments[] = {name, nullptr};
      demand(posix_spawn(&spawned, "/bin/true", nullptr, nullptr, arguments, environ) == 0, "posix_spawn");
      demand(exited(status_of(spawned), 0), "what was spawned");
      demand(exited(status_of(borrowed_child()), 0), "vfork");
      used.use();
    }
    over.store(true);
    other.join();
    _exit(0);
  };
  EXPECT_EXIT(executes(), ExitedWithCode(0), "");
}

// "dd" and "dc" among the flags of each mapping of the host's memory: it is in no core dump, and no child gets it.
void check_flags() {
  std::ifstream maps("/proc/self/smaps");
  std::string line;
  bool host = false;
  int mappings = 0;
  while (std::getline(maps, line)) {
    if (line.find("nuna-host") != std::string::npos) host = true;
    if (!host || line.rfind("VmFlags:", 0) != 0) continue;
    host = false;
    ++mappings;
    demand(line.find(" dd") != std::string::npos, "not dumped");
    demand(line.find(" dc") != std::string::npos, "not given to children");
  }
  demand(mappings >= 2, "both mappings were looked at");
}

TEST_F(CitizenProcessDeathTest, NeitherMappingIsDumpedOrInherited) {
  const auto looks = [] {
    hurry();
    Used used;
    check_flags();
    used.use();
    check_flags();
    used.launch();
    check_flags();
    _exit(0);
  };
  EXPECT_EXIT(looks(), ExitedWithCode(0), "");
}

std::size_t address_space() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * 4096;
}

TEST_F(CitizenProcessDeathTest, WithoutAddressesForTheSecondMappingViewsAreBroughtWhole) {
  const auto limited = [] {
    hurry();
    Context context = Context::self(with_devices(2));
    Buffer<int, 1> x(context, {kInts});
    context.fill(x, 1);
    const rlimit limit{address_space() + (64 << 20), RLIM_INFINITY};
    demand(setrlimit(RLIMIT_AS, &limit) == 0, "setrlimit");
    const base::LogCapture log;
    for (int round = 0; round < 3; ++round) {
      int* const p = x.data();
      demand(p[5] == 1 + 2 * round, "read through the pointer");
      p[5] += 1;
      context.launch("add one", {kInts}, block(256), AddOne{}, read_write(x));
      demand(x.host(Access::read)(5) == 3 + 2 * round, "read through a view");
    }
    demand(log.lines().size() == 1, "one warning");
    say(log.lines().front().c_str());
    _exit(0);
  };
  EXPECT_EXIT(limited(), ExitedWithCode(0), "cannot be mapped twice");
}

TEST_F(CitizenProcessDeathTest, ALimitOnAddressesLeavesRoomForBothMappings) {
  const auto limited = [](std::size_t more) {
    hurry();
    const rlimit limit{address_space() + more, RLIM_INFINITY};
    demand(setrlimit(RLIMIT_AS, &limit) == 0, "setrlimit");
    const base::LogCapture log;
    Used used;
    used.use();
    used.use();
    demand(log.lines().empty(), "no warning");
    demand(used.context.stats().find("\"host_faults\":{\"count\":0") == std::string::npos, "views are lazy");
    _exit(0);
  };
  for (const std::size_t gib : {2, 8, 100}) EXPECT_EXIT(limited(gib << 30), ExitedWithCode(0), "") << gib;
}

#endif

// ---- stacks, and handlers of other signals ----

struct Visit {
  int* p;
  Index begin;
  Index end;
};

[[maybe_unused]] void* visit(void* argument) {
  const Visit& v = *static_cast<const Visit*>(argument);
  for (Index i = v.begin; i < v.end; i += 512) v.p[i] += 1;
  return nullptr;
}

#if !defined(NUNA_TEST_SANITIZED)

TEST_F(CitizenProcessDeathTest, ThreadsWithTheSmallestStacksTouchPointers) {
  const auto small = [] {
    hurry();
    Used used;
    const auto least =
        std::max<std::size_t>(16 << 10, static_cast<std::size_t>(sysconf(_SC_THREAD_STACK_MIN)));
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    demand(pthread_attr_setstacksize(&attributes, least) == 0, "the smallest stack");
    for (int round = 0; round < 5; ++round) {
      used.launch();
      std::vector<Visit> visits;
      for (Index i = 0; i < 4; ++i) visits.push_back({used.p, i * kInts / 4, (i + 1) * kInts / 4});
      std::vector<pthread_t> threads(4);
      for (std::size_t i = 0; i < 4; ++i) {
        demand(pthread_create(&threads[i], &attributes, &visit, &visits[i]) == 0, "pthread_create");
      }
      for (const pthread_t t : threads) pthread_join(t, nullptr);
    }
    for (Index i = 0; i < kInts; i += 128) demand(used.p[i] == (i % 512 == 0 ? 10 : 5), "what they wrote");
    _exit(0);
  };
  EXPECT_EXIT(small(), ExitedWithCode(0), "");
}

TEST_F(CitizenProcessDeathTest, ALittleStackIsEnoughForAFault) {
  const auto little = [](std::size_t alternate) {
    hurry();
    Used used;
    const rlimit limit{256 << 10, 256 << 10};
    setrlimit(RLIMIT_STACK, &limit);
    const AlternateStack stack(alternate);
    for (int round = 0; round < 5; ++round) used.use();
    _exit(0);
  };
  EXPECT_EXIT(little(static_cast<std::size_t>(sysconf(_SC_SIGSTKSZ))), ExitedWithCode(0), "");
  EXPECT_EXIT(little(8192), ExitedWithCode(0), "");
}

#endif

// ThreadSanitizer calls handlers of its own later, and not as signals are called.
#if !defined(__SANITIZE_THREAD__)

// What a handler of a timer's signal does to a buffer of its own while the thread computes on another.
struct Ticking {
  volatile int* p = nullptr;
  std::atomic<int> ticks{0};
  std::atomic<int> newest{0};
  std::atomic<bool> backwards{false};
};
Ticking ticking;

void tick(int) {
  const int tick = ticking.ticks.fetch_add(1);
  const int least = ticking.newest.load();
  const int seen = ticking.p[tick * 7919 % kInts];  // in a closed block, most often
  if (seen < least) ticking.backwards.store(true);
}

class Timer {
 public:
  explicit Timer(void (*handler)(int)) {
    struct sigaction action{};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, nullptr);
    const itimerval often{{0, 500}, {0, 500}};
    setitimer(ITIMER_REAL, &often, nullptr);
  }
  ~Timer() {
    const itimerval never{};
    setitimer(ITIMER_REAL, &never, nullptr);
    signal(SIGALRM, SIG_IGN);
  }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
};

void block_alarms(int how) {
  sigset_t alarms;
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGALRM);
  pthread_sigmask(how, &alarms, nullptr);
}

TEST(CitizenSignals, AHandlerTouchesPointersWhileItsThreadDoesSoAndAnotherLaunches) {
  block_alarms(SIG_BLOCK);  // in a call of Nuna's a handler must touch nothing
  Context context = Context::self(with_devices(2));
  Buffer<int, 1> computed(context, {kInts});
  Buffer<int, 1> watched(context, {kInts});
  context.fill(watched, 0);
  context.fill(computed, 1);
  ticking.p = watched.data();
  ticking.ticks.store(0);
  ticking.newest.store(0);
  ticking.backwards.store(false);
  std::atomic<bool> over{false};
  std::thread launches([&] {
    int n = 0;
    while (!over.load()) {
      context.launch("add one", {kInts}, block(256), AddOne{}, read_write(watched));
      context.fence(watched);
      ticking.newest.store(++n);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  {
    const Timer timer(&tick);
    for (int round = 0; round < 40 || ticking.ticks.load() < 200; ++round) {
      context.launch("add one", {kInts}, block(256), AddOne{}, read_write(computed));
      int* const p = computed.data();
      block_alarms(SIG_UNBLOCK);
      const Index sum = std::accumulate(p, p + kInts, Index{0});
      for (Index i = 0; i < kInts; i += 3) p[i] -= 1;
      for (Index i = 0; i < kInts; i += 3) p[i] += 1;
      block_alarms(SIG_BLOCK);
      ASSERT_EQ(sum, kInts * (round + 2)) << round;
    }
  }
  over.store(true);
  launches.join();
  EXPECT_FALSE(ticking.backwards.load());
  EXPECT_GE(ticking.ticks.load(), 200);
}

void restore_alarms_default() {
  signal(SIGALRM, SIG_DFL);
  block_alarms(SIG_UNBLOCK);
}

TEST(CitizenSignals, ASignalSentToAThreadIsHandledWhileItsFaultWaitsForALaunch) {
  restore_alarms_default();
  Context context = Context::self(with_devices(2));
  Buffer<int, 1> x(context, {1000});
  Buffer<int, 1> y(context, {kInts});
  context.fill(x, 0);
  context.fill(y, 6);
  static std::atomic<bool> go{false};
  static std::atomic<int> seen{0};
  static volatile int* from = nullptr;
  from = y.data();
  const int* const p = x.data();
  go.store(false);
  struct Waits {
    NUNA_KERNEL void operator()(Thread t, View<int, 1> x) const {
      while (!go.load()) std::this_thread::yield();
      x(t.global(0)) = 4;
    }
  };
  struct sigaction action{};
  action.sa_handler = [](int) {
    seen.store(from[kInts / 2]);  // a fault inside the handler that interrupts a fault
    go.store(true);
  };
  sigaction(SIGUSR1, &action, nullptr);
  context.launch("waits", {1000}, block(8), Waits{}, write(x));
  const pthread_t self = pthread_self();
  std::thread sends([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    pthread_kill(self, SIGUSR1);
  });
  EXPECT_EQ(p[77], 4);
  EXPECT_EQ(seen.load(), 6);
  sends.join();
  signal(SIGUSR1, SIG_DFL);
}
#endif

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
