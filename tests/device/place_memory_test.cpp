#include "device/host/place_memory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "base/check.hpp"
#include "nuna/error.hpp"

namespace nuna::device::host {
namespace {

using testing::HasSubstr;

const Index kPage = sysconf(_SC_PAGESIZE);

class Mapping {
 public:
  Mapping(std::size_t size, int protection, int flags, int file)
      : size_(size), base_(static_cast<std::byte*>(mmap(nullptr, size, protection, flags, file, 0))) {}
  ~Mapping() { munmap(base_, size_); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  std::byte* base() const { return base_; }

 private:
  std::size_t size_;
  std::byte* base_;
};

class AnonymousMemory : public testing::Test {
 protected:
  static constexpr std::size_t kSize = std::size_t{1} << 24;
  Mapping mapping_{kSize, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1};
  PlaceMemory memory_{"host:7", mapping_.base(), kSize, static_cast<std::size_t>(8 * kPage),
                      PlaceMemory::Backing::anonymous};

  // Whether the system itself can read a page: asks without a fault of our own.
  bool open(Index page) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    const bool readable = write(ends[1], mapping_.base() + page * kPage, 1) == 1;
    close(ends[0]);
    close(ends[1]);
    return readable;
  }
};

TEST_F(AnonymousMemory, CommittedBytesAreUsableAndOthersAreClosed) {
  memory_.commit({kPage, 2 * kPage + 1});
  std::memset(mapping_.base() + kPage, 1, static_cast<std::size_t>(kPage) + 1);
  EXPECT_FALSE(open(0));
  EXPECT_TRUE(open(1));
  EXPECT_TRUE(open(2));
  EXPECT_FALSE(open(3));
  EXPECT_EQ(memory_.held_bytes(), static_cast<std::size_t>(2 * kPage));
}

TEST_F(AnonymousMemory, CommittingAgainKeepsTheContents) {
  memory_.commit({0, 100});
  mapping_.base()[50] = std::byte{42};
  memory_.commit({40, 5 * kPage});
  memory_.commit({0, 100});
  EXPECT_EQ(mapping_.base()[50], std::byte{42});
}

TEST_F(AnonymousMemory, ReleasedPagesAreClosedAndTheirMemoryGivenBack) {
  memory_.commit({0, 4 * kPage});
  std::memset(mapping_.base(), 1, static_cast<std::size_t>(4 * kPage));
  memory_.release({kPage, 3 * kPage});
  EXPECT_FALSE(open(1));
  EXPECT_TRUE(open(3));
  EXPECT_EQ(memory_.held_bytes(), static_cast<std::size_t>(2 * kPage));
  std::vector<unsigned char> resident(4);
  ASSERT_EQ(mincore(mapping_.base(), static_cast<std::size_t>(4 * kPage), resident.data()), 0);
  EXPECT_EQ(resident[0] & 1, 1);
  EXPECT_EQ(resident[1] & 1, 0);
}

TEST_F(AnonymousMemory, RefusesWhatExceedsTheLimitAndChangesNothing) {
  memory_.commit({0, 6 * kPage});
  try {
    memory_.commit({4 * kPage, 9 * kPage});
    FAIL() << "nothing was refused";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::out_of_memory);
    EXPECT_THAT(e.what(), HasSubstr("host:7"));
    EXPECT_THAT(e.what(), HasSubstr("NUNA_MEMORY_LIMIT"));
    if (kPage == 4096) {
      EXPECT_THAT(e.what(), HasSubstr("wanted 20 KiB, 24 KiB of 32 KiB in use"));
    }
  }
  EXPECT_FALSE(open(6));
  EXPECT_EQ(memory_.held_bytes(), static_cast<std::size_t>(6 * kPage));
  memory_.commit({4 * kPage, 8 * kPage});  // only the part beyond what is held counts
  EXPECT_EQ(memory_.held_bytes(), static_cast<std::size_t>(8 * kPage));
}

TEST_F(AnonymousMemory, WhatWasReleasedCanBeCommittedElsewhere) {
  memory_.commit({0, 8 * kPage});
  EXPECT_THROW(memory_.commit({100 * kPage, 101 * kPage}), Error);
  memory_.release({0, kPage});
  memory_.commit({100 * kPage, 101 * kPage});
  mapping_.base()[100 * kPage] = std::byte{1};
}

TEST_F(AnonymousMemory, BytesOutsideTheRangeAreABrokenInvariant) {
  const base::ThrowOnPanic throwing;
  EXPECT_THROW(memory_.commit({-1, 5}), base::BrokenInvariant);
  EXPECT_THROW(memory_.commit({0, Index{kSize} + 1}), base::BrokenInvariant);
  EXPECT_THROW(memory_.release({0, Index{kSize} + 1}), base::BrokenInvariant);
  EXPECT_THROW(PlaceMemory("odd", mapping_.base() + 1, kSize, 0, PlaceMemory::Backing::anonymous),
               base::BrokenInvariant);
}

TEST(SharedMemory, GivesTheFilesPagesBackThroughAHole) {
  constexpr std::size_t kSize = std::size_t{1} << 22;
  const int file = memfd_create("place", MFD_CLOEXEC);
  ASSERT_GE(file, 0);
  ASSERT_EQ(ftruncate(file, kSize), 0);
  {
    const Mapping mapping(kSize, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file);
    const Mapping other(kSize, PROT_READ, MAP_SHARED | MAP_NORESERVE, file);
    PlaceMemory memory("host", mapping.base(), kSize, kSize, PlaceMemory::Backing::shared);
    memory.commit({0, 64 * kPage});
    std::memset(mapping.base(), 5, static_cast<std::size_t>(64 * kPage));
    struct stat before{};
    ASSERT_EQ(fstat(file, &before), 0);
    memory.release({0, 32 * kPage});
    struct stat after{};
    ASSERT_EQ(fstat(file, &after), 0);
    EXPECT_EQ((before.st_blocks - after.st_blocks) * 512, 32 * kPage);
    EXPECT_EQ(other.base()[0], std::byte{0});
    EXPECT_EQ(other.base()[32 * kPage], std::byte{5});
    EXPECT_EQ(memory.held_bytes(), static_cast<std::size_t>(32 * kPage));
  }
  close(file);
}

TEST(SharedMemory, HasALimitToo) {
  constexpr std::size_t kSize = std::size_t{1} << 20;
  const Mapping mapping(kSize, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1);
  PlaceMemory memory("host", mapping.base(), kSize, static_cast<std::size_t>(kPage),
                     PlaceMemory::Backing::shared);
  memory.commit({0, kPage});
  EXPECT_THROW(memory.commit({kPage, kPage + 1}), Error);
}

}  // namespace
}  // namespace nuna::device::host
