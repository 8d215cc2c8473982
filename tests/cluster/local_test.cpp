#include "cluster/local.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "base/check.hpp"
#include "nuna/error.hpp"

namespace nuna::cluster {
namespace {

TEST(Local, HasOneRank) {
  const auto communicator = make_local();
  EXPECT_EQ(communicator->rank(), base::RankId{0});
  EXPECT_EQ(communicator->size(), 1);
}

TEST(Local, AllgatherReturnsTheCallersBytes) {
  const auto communicator = make_local();
  const std::array bytes{std::byte{1}, std::byte{2}};
  EXPECT_THAT(communicator->allgather({}, bytes), testing::ElementsAre(testing::ElementsAreArray(bytes)));
  EXPECT_THAT(communicator->allgather({}, {}), testing::ElementsAre(testing::IsEmpty()));
}

TEST(Local, AllgatherPassesAFailureOn) {
  const auto communicator = make_local();
  Envelope envelope;
  envelope.call = "exchange at a.cpp:1";
  envelope.failure = "the kernel threw";
  try {
    communicator->allgather(envelope, {});
    FAIL() << "returned";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::diverged);
    EXPECT_STREQ(error.what(), "rank 0 could not take part in exchange at a.cpp:1: the kernel threw");
  }
}

TEST(Local, MessagesToItselfAreABrokenInvariant) {
  const base::ThrowOnPanic throwing;
  const auto communicator = make_local();
  EXPECT_THROW(communicator->send({0}, {}, {}), base::BrokenInvariant);
  EXPECT_THROW(communicator->receive({0}, Envelope{}, {}), base::BrokenInvariant);
  EXPECT_THROW(communicator->send({1}, {}, {}), base::BrokenInvariant);
  EXPECT_THROW(static_cast<void>(communicator->status_of({1})), base::BrokenInvariant);
}

TEST(Local, RemembersWhatItPublished) {
  const auto communicator = make_local();
  base::Doorbell bell;
  communicator->set_bell(&bell);
  communicator->publish({3, 17, "launch 'heat' at heat.cpp:31", false});
  const Status status = communicator->status_of({0});
  EXPECT_EQ(status.sequence, 3U);
  EXPECT_EQ(status.hash, 17U);
  EXPECT_EQ(status.last_call, "launch 'heat' at heat.cpp:31");
}

}  // namespace
}  // namespace nuna::cluster
