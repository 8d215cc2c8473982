// Copies between places whose devices are CPU threads, by the ways that a machine's description leaves them.
#include "transfer/mover.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>
#include <memory>

#include "base/log.hpp"
#include "device/host/host_device.hpp"
#include "nuna/error.hpp"
#include "topology/gathered.hpp"

namespace nuna::transfer {
namespace {

using base::PlaceId;
using route::Kind;

constexpr std::size_t kRange = std::size_t{16} << 20;
constexpr Index kProof = Index{64} << 10;
constexpr PlaceId kOne{1};
constexpr PlaceId kTwo{2};

class MoverTest : public testing::Test {
 protected:
  MoverTest() {
    for (int p = 0; p < 3; ++p) {
      device::HostDeviceConfig config;
      config.name = p == 0 ? "host" : "host:" + std::to_string(p - 1);
      config.base = static_cast<std::byte*>(
          ::mmap(nullptr, kRange, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
      config.range_bytes = config.memory_bytes = kRange;
      config.bell = &bell_;
      bases_.push_back(config.base);
      devices_.push_back(device::make_host_device(config));
    }
  }
  ~MoverTest() override {
    mover_.reset();
    devices_.clear();
    for (std::byte* base : bases_) ::munmap(base, kRange);
  }

  Mover& mover(const std::string& injected, const std::vector<Kind>& refused = {}, Index chunk = 4096) {
    topology::RankFacts facts;
    topology::set_node_name(facts, "here");
    facts.devices = 2;
    facts.shares_host_memory = 0;
    facts.host_memory_bytes = facts.device_memory_bytes = kRange;
    route::Findings findings;
    for (const Kind kind : refused) findings.refuse_all(kind, "not this time");
    ways_ = std::make_unique<Ways>(topology::assemble(std::array{facts}), findings,
                                   route::Limits{chunk, chunk, 2}, base::RankId{0});
    std::vector<device::Device*> places;
    for (const auto& d : devices_) places.push_back(d.get());
    mover_ = std::make_unique<Mover>(
        Mover::Config{kProof, base::Injection::parse(injected), std::chrono::milliseconds(200)}, places,
        *ways_, staging_);
    return *mover_;
  }

  device::Region run(PlaceId place, Index at, Index bytes) {
    device::Region r;
    r.first = bases_[static_cast<std::size_t>(place.value)] + at;
    r.run_bytes = bytes;
    return r;
  }

  base::Doorbell bell_;
  std::vector<std::byte*> bases_;
  std::vector<std::unique_ptr<device::Device>> devices_;
  Staging staging_{2 * Staging::kBlockBytes};
  std::unique_ptr<Ways> ways_;
  std::unique_ptr<Mover> mover_;
};

TEST_F(MoverTest, StagedCopiesBringEveryByteThroughFewBlocks) {
  constexpr Index kBytes = Index{3} << 20;
  constexpr Index kPart = 100'000;
  Mover& m = mover("", {Kind::direct});
  m.prove(kOne, kTwo);
  for (const PlaceId p : {kOne, kTwo}) devices_[static_cast<std::size_t>(p.value)]->commit({0, kBytes});
  const device::Region from = run(kOne, 0, kBytes);
  for (Index i = 0; i < kBytes; ++i) from.first[i] = static_cast<std::byte>(i % 253);
  std::vector<Mover::Part> parts;
  for (Index at = 0; at < kBytes; at += kPart) {
    const Index size = std::min(kPart, kBytes - at);
    parts.push_back({run(kTwo, at, size), run(kOne, at, size)});
  }
  const route::Step way = m.way(kOne, kTwo, kBytes);
  EXPECT_EQ(way.kind, Kind::staged);
  m.copy(kTwo, kOne, parts, way, {}).wait();
  const std::byte* const got = run(kTwo, 0, kBytes).first;
  for (Index i = 0; i < kBytes; ++i) ASSERT_EQ(got[i], static_cast<std::byte>(i % 253)) << i;
  EXPECT_LE(staging_.blocks(), 2);
}

TEST_F(MoverTest, AWayThatFailsItsProofIsReplacedWithOneLine) {
  for (const char* fault : {"direct:wrong", "direct:lost", "direct:slow"}) {
    const base::LogCapture log(base::LogLevel::warn);
    Mover& m = mover(fault);
    EXPECT_EQ(m.way(kOne, kTwo, kProof).kind, Kind::direct);
    m.prove(kOne, kTwo);
    EXPECT_EQ(m.way(kOne, kTwo, kProof).kind, Kind::staged) << fault;
    EXPECT_EQ(log.lines().size(), 1U) << fault;
    m.prove(kOne, kTwo);
    EXPECT_EQ(log.lines().size(), 1U) << fault;
  }
}

TEST_F(MoverTest, WithoutAnyWayLeftCopiesAreRefusedEveryTime) {
  const base::LogCapture quiet(base::LogLevel::error);
  Mover& m = mover("direct:wrong, staged:wrong");
  for (int attempt = 0; attempt < 3; ++attempt) {
    try {
      m.prove(kOne, kTwo);
      ADD_FAILURE() << "attempt " << attempt << " was accepted";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::unsupported);
    }
  }
}

TEST_F(MoverTest, AProofLeavesNoMemoryBehind) {
  Mover& m = mover("");
  m.prove(kOne, kTwo);
  devices_[1]->commit({0, static_cast<Index>(kRange)});  // all of it
  devices_[2]->commit({0, static_cast<Index>(kRange)});
}

}  // namespace
}  // namespace nuna::transfer
