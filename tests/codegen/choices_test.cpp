#include "access/choices.hpp"

#include <gmock/gmock.h>

namespace nuna::compiler {
namespace {

using testing::ElementsAre;

TEST(ChoicesTest, GoesEveryWayOnce) {
  std::vector<std::vector<std::size_t>> ways;
  Choices choices(10);
  do {
    std::vector<std::size_t> way{*choices.choose(2)};
    if (way[0] == 1) way.push_back(*choices.choose(3));
    ways.push_back(way);
  } while (choices.next());
  using Way = std::vector<std::size_t>;
  EXPECT_THAT(ways, ElementsAre(Way{0}, Way{1, 0}, Way{1, 1}, Way{1, 2}));
}

TEST(ChoicesTest, HasOneWayWhereNothingIsDecided) {
  Choices choices(10);
  EXPECT_FALSE(choices.next());
}

TEST(ChoicesTest, GivesUpBehindTheMostWays) {
  Choices choices(2);
  choices.choose(3);
  EXPECT_TRUE(choices.next());
  choices.choose(3);
  EXPECT_THROW(choices.next(), Choices::TooMany);
}

TEST(ChoicesTest, DecidesNothingWithoutChoices) {
  auto choices = Choices::none();
  EXPECT_EQ(std::nullopt, choices.choose(2));
  EXPECT_FALSE(choices.next());
}

}  // namespace
}  // namespace nuna::compiler
