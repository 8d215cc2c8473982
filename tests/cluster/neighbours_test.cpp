#include "cluster/neighbours.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "cluster/in_process.hpp"

namespace nuna::cluster {
namespace {

constexpr Index kBytes = Index{1} << 20;

TEST(Neighbours, OfOneProcessReadEachOthersMemoryWhereItIs) {
  run_ranks(3, [](base::RankId me, std::unique_ptr<Communicator> communicator) {
    std::vector<std::byte> memory(static_cast<std::size_t>(kBytes), static_cast<std::byte>(me.value));
    Neighbours neighbours(*communicator, {{memory.data()}, {-1}, kBytes}, {});
    for (int r = 0; r < 3; ++r) {
      if (r == me.value) continue;
      EXPECT_TRUE(neighbours.reading({r}).good);
      EXPECT_TRUE(neighbours.read_by({r}).good);
      const Lease lease = neighbours.memory({r}).borrow({0}, {1000, 2000});
      ASSERT_TRUE(lease);
      EXPECT_EQ(*lease.first(), static_cast<std::byte>(r));
    }
    communicator->allgather({}, {});  // until all have looked
  });
}

TEST(SharedMemory, WaitsAtItsEndForWhoReadsIt) {
  std::vector<std::byte> bytes(100);
  const auto memory = SharedMemory::publish(42, {bytes.data()});
  EXPECT_EQ(SharedMemory::find(42), memory);
  PeerMemory peer(memory);
  std::atomic<bool> closed{false};
  Lease lease = peer.borrow({0}, {0, 100});
  std::thread owner([&] {
    memory->close();
    closed.store(true);
  });
  while (peer.borrow({0}, {0, 1})) std::this_thread::yield();  // nobody else is let in
  EXPECT_FALSE(closed.load());
  lease = Lease();
  owner.join();
  EXPECT_TRUE(closed.load());
}

TEST(SharedMemory, IsForgottenWhenItIsGone) {
  std::vector<std::byte> bytes(100);
  PeerMemory peer(SharedMemory::publish(43, {bytes.data()}));
  EXPECT_EQ(SharedMemory::find(43), nullptr);
  EXPECT_FALSE(peer.borrow({0}, {0, 1}));
  EXPECT_FALSE(peer.read({0}, 0, bytes));
}

class FileMemory : public testing::Test {
 protected:
  static constexpr Index kSize = Index{1} << 30;
  FileMemory() : file_(::memfd_create("place", MFD_CLOEXEC)) {
    if (::ftruncate(file_.descriptor(), kSize) != 0) throw std::runtime_error("no memory file");
  }
  void put(Index at, char value) const { ASSERT_EQ(::pwrite(file_.descriptor(), &value, 1, at), 1); }
  PeerMemory peer() const {
    std::vector<address::File> files;
    files.emplace_back(::dup(file_.descriptor()));
    return {std::move(files), kSize};
  }
  address::File file_;
};

TEST_F(FileMemory, IsMappedAsFarAsItIsRead) {
  PeerMemory memory = peer();
  put(5, 'a');
  const Lease near = memory.borrow({0}, {5, 6});
  ASSERT_TRUE(near);
  put(kSize - 1, 'z');
  const Lease far = memory.borrow({0}, {kSize - 1, kSize});
  ASSERT_TRUE(far);
  EXPECT_EQ(*far.first(), std::byte{'z'});
  put(5, 'b');
  EXPECT_EQ(*near.first(), std::byte{'b'}) << "the first mapping is still there";
  EXPECT_FALSE(memory.borrow({0}, {kSize - 1, kSize + 1}));
}

TEST_F(FileMemory, IsReadByTheKernelWhereItCannotBeMapped) {
  PeerMemory memory = peer();
  memory.refuse_mappings();
  put(kSize - 2, 'y');
  EXPECT_FALSE(memory.borrow({0}, {0, 1}));
  std::vector<std::byte> got(2);
  ASSERT_TRUE(memory.read({0}, kSize - 2, got));
  EXPECT_EQ(got[0], std::byte{'y'});
  EXPECT_FALSE(memory.read({0}, kSize - 1, got)) << "there are no two bytes there";
}

}  // namespace
}  // namespace nuna::cluster
