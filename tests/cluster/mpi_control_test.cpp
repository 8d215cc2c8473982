// The control channel of MPI ranks, without MPI: this process asks itself.

#ifdef NUNA_WITH_MPI

#include "cluster/mpi/control.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

namespace nuna::cluster::mpi {
namespace {

using namespace std::chrono_literals;

TEST(Control, AnswersWithTheCallsOfTheContextThatIsAskedFor) {
  const auto journal = std::make_shared<Journal>();
  journal->publish({1, 10, "launch 'a' at x.cpp:1", false});
  journal->publish({2, 20, "launch 'b' at x.cpp:2", false});
  Responder::of_process().answer_for(4711, journal);
  const auto answer = ask(Responder::of_process().address(), 4711, 2s);
  ASSERT_TRUE(answer);
  EXPECT_FALSE(answer->gone || answer->left);
  ASSERT_EQ(answer->history.calls().size(), 2U);
  EXPECT_EQ(answer->history.find(2)->call, "launch 'b' at x.cpp:2");
  journal->publish({2, 20, "", true});
  EXPECT_TRUE(ask(Responder::of_process().address(), 4711, 2s)->left);
}

TEST(Control, KnowsNothingOfAnotherContext) {
  const auto answer = ask(Responder::of_process().address(), 815, 2s);
  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->history.calls().empty());
}

TEST(Control, GivesNoAnswerToStrangers) {
  Address wrong = Responder::of_process().address();
  wrong.token ^= 1;
  EXPECT_FALSE(ask(wrong, 4711, 2s));
}

TEST(Control, AProcessThatRefusesIsGone) {
  Address gone = Responder::of_process().address();
  const int s = ::socket(AF_INET, SOCK_STREAM, 0);  // a port that nobody listens at, and nobody else gets
  sockaddr_in any{};
  any.sin_family = AF_INET;
  socklen_t size = sizeof any;
  ASSERT_EQ(::bind(s, reinterpret_cast<sockaddr*>(&any), sizeof any), 0);
  ASSERT_EQ(::getsockname(s, reinterpret_cast<sockaddr*>(&any), &size), 0);
  gone.port = any.sin_port;
  const auto answer = ask(gone, 4711, 2s);
  ::close(s);
  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->gone);
}

TEST(Control, OneThatAcceptsAndStaysSilentProvesNothing) {
  Address silent = Responder::of_process().address();
  const int s = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in any{};
  any.sin_family = AF_INET;
  socklen_t size = sizeof any;
  ASSERT_EQ(::bind(s, reinterpret_cast<sockaddr*>(&any), sizeof any), 0);
  ASSERT_EQ(::listen(s, 1), 0);
  ASSERT_EQ(::getsockname(s, reinterpret_cast<sockaddr*>(&any), &size), 0);
  silent.port = any.sin_port;
  EXPECT_FALSE(ask(silent, 4711, 200ms));
  ::close(s);
}

}  // namespace
}  // namespace nuna::cluster::mpi

#endif  // NUNA_WITH_MPI
