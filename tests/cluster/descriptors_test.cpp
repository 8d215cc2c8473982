#include "cluster/descriptors.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace nuna::cluster {
namespace {

std::string text_in(const address::File& file) {
  std::string text(5, '?');
  return ::pread(file.descriptor(), text.data(), text.size(), 0) == 5 ? text : "";
}

address::File file_with(const std::string& text) {
  address::File file(::memfd_create("gift", MFD_CLOEXEC));
  if (::pwrite(file.descriptor(), text.data(), text.size(), 0) < 0) return address::File();
  return file;
}

TEST(Mailslot, TakesFilesInTheOrderInWhichTheyWereGiven) {
  const Mailslot mailslot;
  const address::File one = file_with("first");
  const address::File two = file_with("other");
  const std::vector<int> files{one.descriptor(), two.descriptor()};
  std::string why;
  ASSERT_EQ(Mailslot::give(mailslot.name(), 77, files, why), Mailslot::Given::yes) << why;
  const auto gift = mailslot.take();
  ASSERT_TRUE(gift);
  EXPECT_EQ(gift->word, 77U);
  ASSERT_EQ(gift->files.size(), 2U);
  EXPECT_NE(gift->files[0].descriptor(), one.descriptor());
  EXPECT_EQ(text_in(gift->files[0]), "first");
  EXPECT_EQ(text_in(gift->files[1]), "other");
}

TEST(Mailslot, HasNothingBeforeAnythingWasGiven) { EXPECT_FALSE(Mailslot().take()); }

TEST(Mailslot, OfNobodyTakesNothingAndSaysWhy) {
  std::string name;
  {
    const Mailslot gone;
    name = gone.name();
  }
  const address::File file = file_with("first");
  std::string why;
  EXPECT_EQ(Mailslot::give(name, 1, std::vector<int>{file.descriptor()}, why), Mailslot::Given::never);
  EXPECT_FALSE(why.empty());
}

TEST(Mailslot, ThatIsFullIsTriedAgainLater) {
  const Mailslot mailslot;
  const address::File file = file_with("first");
  const std::vector<int> files{file.descriptor()};
  std::string why;
  int given = 0;
  while (given < 10'000 && Mailslot::give(mailslot.name(), 1, files, why) == Mailslot::Given::yes) ++given;
  ASSERT_LT(given, 10'000) << "the queue has a bound";
  EXPECT_EQ(Mailslot::give(mailslot.name(), 1, files, why), Mailslot::Given::later);
  EXPECT_TRUE(mailslot.take());
  EXPECT_EQ(Mailslot::give(mailslot.name(), 1, files, why), Mailslot::Given::yes);
}

}  // namespace
}  // namespace nuna::cluster
