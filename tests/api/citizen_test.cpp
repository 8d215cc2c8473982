// Nuna's handler of SIGSEGV among others (D7): a segmentation fault of the program's own gets to the program's handler,
// whoever installed first and however, and pointers into buffers work before and after.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cerrno>
#include <csetjmp>
#include <optional>
#include <string>
#include <thread>

#include "citizen.hpp"

#if !defined(NUNA_TEST_SANITIZED)

namespace nuna::test {
namespace {

using ::testing::ExitedWithCode;
using ::testing::KilledBySignal;

int calls = 0;  // of the handlers below

void called_once() {
  if (++calls > 1) {
    say("called twice\n");
    _exit(98);
  }
}

void plain(int) {
  called_once();
  say("the plain handler\n");
  signal(SIGSEGV, SIG_DFL);
}

void plain_that_stays(int) {
  called_once();
  say("the plain handler\n");
}

void check_info(const siginfo_t* info, const void* context) {
  if (info->si_signo != SIGSEGV || context == nullptr) _exit(97);
  if (info->si_code > 0 && info->si_addr != reinterpret_cast<void*>(8)) _exit(96);
}

void informed(int, siginfo_t* info, void* context) {
  called_once();
  check_info(info, context);
  say("the informed handler\n");
  signal(SIGSEGV, SIG_DFL);
}

void informed_that_stays(int, siginfo_t* info, void* context) {
  called_once();
  check_info(info, context);
  say("the informed handler\n");
}

struct sigaction action_of(void (*handler)(int), int flags = 0) {
  struct sigaction action{};
  action.sa_handler = handler;
  action.sa_flags = flags;
  return action;
}

struct sigaction action_of(void (*handler)(int, siginfo_t*, void*), int flags = 0) {
  struct sigaction action{};
  action.sa_sigaction = handler;
  action.sa_flags = flags | SA_SIGINFO;
  return action;
}

void install(const struct sigaction& action, struct sigaction* before = nullptr) {
  demand(sigaction(SIGSEGV, &action, before) == 0, "sigaction");
}

class CitizenDeathTest : public ::testing::Test {
 protected:
  void SetUp() override { ::testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

enum class Order {
  before,         // the handler, then the first view
  after,          // the handler comes later, and Nuna has not noticed
  after_noticed,  // and a call of Nuna's has taken the signal back
};

void die_with(const struct sigaction& action, Order order, bool alternate_stack) {
  hurry();
  std::optional<AlternateStack> stack;
  if (alternate_stack) stack.emplace();
  if (order == Order::before) install(action);
  Used used;
  used.use();
  if (order != Order::before) install(action);
  if (order == Order::after_noticed) used.use();
  if (order != Order::after) used.use();
  crash();
}

TEST_F(CitizenDeathTest, AHandlerGetsTheProgramsOwnFaultInEveryOrderOfInstallation) {
  for (const Order order : {Order::before, Order::after, Order::after_noticed}) {
    for (const bool stack : {false, true}) {
      for (const int flags : {0, SA_ONSTACK, SA_NODEFER, SA_RESTART}) {
        SCOPED_TRACE(std::to_string(static_cast<int>(order)) + " " + std::to_string(flags));
        EXPECT_EXIT(die_with(action_of(&plain, flags), order, stack), KilledBySignal(SIGSEGV),
                    "the plain handler");
        EXPECT_EXIT(die_with(action_of(&informed, flags), order, stack), KilledBySignal(SIGSEGV),
                    "the informed handler");
      }
      SCOPED_TRACE(static_cast<int>(order));
      const int once = static_cast<int>(SA_RESETHAND);
      EXPECT_EXIT(die_with(action_of(&plain_that_stays, once), order, stack), KilledBySignal(SIGSEGV),
                  "the plain handler");
      EXPECT_EXIT(die_with(action_of(&informed_that_stays, once), order, stack), KilledBySignal(SIGSEGV),
                  "the informed handler");
      EXPECT_EXIT(die_with(action_of(SIG_DFL), order, stack), KilledBySignal(SIGSEGV), "");
      EXPECT_EXIT(die_with(action_of(SIG_IGN), order, stack), KilledBySignal(SIGSEGV), "");
    }
  }
}

TEST_F(CitizenDeathTest, WhoTakesTheSignalIsNamedAndPointersWorkAgain) {
  const auto taken = [](const struct sigaction& action) {
    hurry();
    Used used;
    used.use();
    install(action);
    used.use();  // the launch takes it back before the host touches anything
    install(action);
    used.use();
    install(action);
    used.x.data();
    used.use();
    _exit(0);
  };
  EXPECT_EXIT(taken(action_of(&plain)), ExitedWithCode(0), "SIGSEGV.*was taken by.*api_tests");
  EXPECT_EXIT(taken(action_of(&informed)), ExitedWithCode(0), "SIGSEGV.*was taken by.*api_tests");
  EXPECT_EXIT(taken(action_of(SIG_DFL)), ExitedWithCode(0), "was taken by the default action");
  EXPECT_EXIT(taken(action_of(SIG_IGN)), ExitedWithCode(0), "was taken by nobody .SIG_IGN");
  EXPECT_EXIT(taken(action_of(&plain, static_cast<int>(SA_RESETHAND))), ExitedWithCode(0), "was taken by");
}

struct sigaction first_before{};
struct sigaction second_before{};
int first_calls = 0;
int second_calls = 0;

// What a handler does that passes on what it does not know.
void pass_on(const struct sigaction& to, int signal, siginfo_t* info, void* context) {
  if ((to.sa_flags & SA_SIGINFO) != 0) return to.sa_sigaction(signal, info, context);
  if (to.sa_handler != SIG_DFL && to.sa_handler != SIG_IGN) return to.sa_handler(signal);
  install(to);
}

void first_chaining(int signal, siginfo_t* info, void* context) {
  if (++first_calls > 1000) _exit(95);
  pass_on(first_before, signal, info, context);
}

void second_chaining(int signal, siginfo_t* info, void* context) {
  if (++second_calls > 1000) _exit(95);
  pass_on(second_before, signal, info, context);
}

TEST_F(CitizenDeathTest, AHandlerThatPassesOnWhatIsNotItsOwnSeesNunasAndThePointersWork) {
  const auto chained = [](bool noticed, bool dies) {
    hurry();
    install(action_of(&plain));
    Used used;
    used.use();
    install(action_of(&first_chaining), &first_before);
    used.launch();
    if (noticed) used.launch();
    for (Index i = 0; i < Used::kInts; ++i) demand(used.p[i] >= 2, "the host sees the launch");
    if (dies) crash();
    _exit(0);
  };
  for (const bool noticed : {false, true}) {
    EXPECT_EXIT(chained(noticed, false), ExitedWithCode(0), "");
    EXPECT_EXIT(chained(noticed, true), KilledBySignal(SIGSEGV), "the plain handler");
  }
}

TEST_F(CitizenDeathTest, HandlersThatChainToEachOtherThroughNunasEnd) {
  const auto circle = [](int turns) {
    hurry();
    install(action_of(&plain));
    Used used;
    used.use();
    for (int i = 0; i < turns; ++i) {
      install(action_of(&first_chaining), &first_before);
      used.use();
      install(action_of(&second_chaining), &second_before);
      used.use();
    }
    first_calls = second_calls = 0;
    crash();
  };
  for (const int turns : {1, 2, 3, 20}) {
    EXPECT_EXIT(circle(turns), KilledBySignal(SIGSEGV), "the plain handler") << turns;
  }
}

sigjmp_buf landing;
void jumps(int) { siglongjmp(landing, 1); }

// Whether the handler came back here.
bool survives(int depth) {
  if (sigsetjmp(landing, 1) != 0) return true;
  crash_below(depth);
  return false;
}

TEST_F(CitizenDeathTest, AHandlerMayJumpOutAgainAndAgain) {
  const auto jumping = [](Order order, bool alternate_stack, int flags) {
    hurry();
    std::optional<AlternateStack> stack;
    if (alternate_stack) stack.emplace();
    if (order == Order::before) install(action_of(&jumps, flags));
    Used used;
    used.use();
    if (order != Order::before) install(action_of(&jumps, flags));
    if (order == Order::after_noticed) used.use();
    for (const int depth :
         {0, 40, 3, 3, 80, 0}) {  // deeper ones are no faults inside the handler that was left
      demand(survives(depth), "the handler jumps");
      if (order != Order::after) used.use();
    }
    used.use();
    _exit(0);
  };
  for (const Order order : {Order::before, Order::after, Order::after_noticed}) {
    for (const bool stack : {false, true}) {
      for (const int flags : {0, SA_ONSTACK, SA_NODEFER})
        EXPECT_EXIT(jumping(order, stack, flags), ExitedWithCode(0), "");
    }
  }
}

int sent = 0;
void counts(int, siginfo_t* info, void*) {
  demand(info->si_code <= 0, "it was sent");
  ++sent;
}

TEST_F(CitizenDeathTest, WhatIsSentFromOutsideIsNoFault) {
  const auto counted = [] {
    hurry();
    install(action_of(&counts));
    Used used;
    used.use();
    kill(getpid(), SIGSEGV);
    raise(SIGSEGV);
    pthread_kill(pthread_self(), SIGSEGV);
    demand(sent == 3, "the handler is called for each");
    used.use();
    _exit(0);
  };
  EXPECT_EXIT(counted(), ExitedWithCode(0), "");
  const auto with = [](void (*handler)(int), bool by_kill) {
    hurry();
    install(action_of(handler));
    Used used;
    used.use();
    by_kill ? kill(getpid(), SIGSEGV) : raise(SIGSEGV);
    used.use();
    _exit(0);
  };
  for (const bool by_kill : {false, true}) {
    EXPECT_EXIT(with(SIG_IGN, by_kill), ExitedWithCode(0), "");
    EXPECT_EXIT(with(SIG_DFL, by_kill), KilledBySignal(SIGSEGV), "");
  }
}

int overflow(int depth) {
  volatile char frame[4096];
  frame[0] = static_cast<char>(depth);
  if (depth > 1 << 30) return 0;
  return overflow(depth + 1) + frame[0];
}

void overflown(int, siginfo_t*, void*) {
  called_once();
  say("the stack is full\n");
  _exit(7);
}

TEST_F(CitizenDeathTest, AStackThatOverflowsIsToldOfOnTheAlternateOne) {
  const auto overflows = [](Order order, bool alternate_stack) {
    hurry();
    const rlimit small{1 << 20, 1 << 20};
    setrlimit(RLIMIT_STACK, &small);
    std::optional<AlternateStack> stack;
    if (alternate_stack) stack.emplace();
    if (order == Order::before) install(action_of(&overflown, SA_ONSTACK));
    Used used;
    used.use();
    if (order != Order::before) install(action_of(&overflown, SA_ONSTACK));
    if (order == Order::after_noticed) used.use();
    _exit(overflow(0));
  };
  for (const Order order : {Order::before, Order::after, Order::after_noticed}) {
    EXPECT_EXIT(overflows(order, true), ExitedWithCode(7), "the stack is full");
    EXPECT_EXIT(overflows(order, false), KilledBySignal(SIGSEGV), "");
  }
}

int nested_depth = 0;
void crashes_itself(int) {
  if (++nested_depth == 3) {
    say("in the third\n");
    _exit(5);
  }
  crash();
}

TEST_F(CitizenDeathTest, AHandlerThatFaultsItselfIsCalledAgainOnlyIfItAskedForThat) {
  const auto nested = [](int flags) {
    hurry();
    install(action_of(&crashes_itself, flags));
    Used used;
    used.use();
    crash();
  };
  EXPECT_EXIT(nested(SA_NODEFER), ExitedWithCode(5), "in the third");
  EXPECT_EXIT(nested(0), KilledBySignal(SIGSEGV), "");
}

TEST_F(CitizenDeathTest, ErrnoIsLeftAloneByATouch) {
  const auto touches = [] {
    hurry();
    Used used;
    used.launch();
    for (Index i = 0; i < Used::kInts; i += 1000) {
      errno = 1234;
      demand(used.p[i] == 1, "the bytes come");
      demand(errno == 1234, "errno stays");
    }
    _exit(0);
  };
  EXPECT_EXIT(touches(), ExitedWithCode(0), "");
}

}  // namespace
}  // namespace nuna::test

#endif
