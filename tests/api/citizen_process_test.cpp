// Pointers into buffers in the life of a process: children, limits, small stacks, handlers of other signals.

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
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "base/log.hpp"
#include "citizen.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace nuna::test {
namespace {

using ::testing::ExitedWithCode;

constexpr Index kInts = Used::kInts;

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

}  // namespace
}  // namespace nuna::test
