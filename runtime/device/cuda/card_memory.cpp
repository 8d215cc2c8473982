#include "device/cuda/card_memory.hpp"

#include <absl/container/btree_map.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/check.hpp"
#include "base/log.hpp"
#include "base/mutex.hpp"
#include "base/units.hpp"
#include "device/page_ledger.hpp"

namespace nuna::device::cuda {
namespace {

constexpr Index kMostChunkBytes = Index{32} << 20;
constexpr Index kPlainGranule = 4096;  // only accounted
constexpr Index kLeastPlainBytes = Index{1} << 20;

CUdeviceptr address_of(const std::byte* p) { return reinterpret_cast<CUdeviceptr>(p); }
std::byte* pointer_of(CUdeviceptr p) {
  return reinterpret_cast<std::byte*>(p);
}  // NOLINT(performance-no-int-to-ptr)

Index up_to(Index bytes, Index multiple) { return (bytes + multiple - 1) / multiple * multiple; }

[[noreturn]] void refuse(const CardMemory::Config& config, Index wanted, Index held, const std::string& why) {
  throw Error(ErrorCode::out_of_memory, "device " + config.owner + " is out of memory: wanted " +
                                            base::print_bytes(wanted) + ", " + base::print_bytes(held) +
                                            " of " + base::print_bytes(config.limit_bytes) + " in use; " +
                                            why);
}

void check_limit(const CardMemory::Config& config, Interval wanted, Index held, Index more) {
  if (held + more > config.limit_bytes)
    refuse(config, wanted.size(), held, "use smaller buffers or more devices, or raise NUNA_MEMORY_LIMIT");
}

class MappedMemory final : public CardMemory {
 public:
  explicit MappedMemory(Config config)
      : config_(std::move(config)),
        driver_(config_.card->driver()),
        granule_(granularity()),
        range_bytes_(up_to(config_.range_bytes, granule_)),
        ledger_(granule_) {
    CUdeviceptr reserved = 0;
    driver_.check(driver_.cuMemAddressReserve(&reserved, static_cast<std::size_t>(range_bytes_), 0,
                                              address_of(config_.wished), 0),
                  "cuMemAddressReserve",
                  base::print_bytes(range_bytes_) + " of addresses for " + config_.owner);
    base_ = pointer_of(reserved);
    for (Card* card : {config_.card}) access_.push_back(access_for(*card));
    for (Card* card : config_.peers) access_.push_back(access_for(*card));
  }
  ~MappedMemory() override {
    release({0, range_bytes_});
    driver_.cuMemAddressFree(address_of(base_), static_cast<std::size_t>(range_bytes_));
  }
  MappedMemory(const MappedMemory&) = delete;
  MappedMemory& operator=(const MappedMemory&) = delete;

  std::byte* base() const override { return base_; }
  Index range_bytes() const override { return range_bytes_; }

  void commit(Interval bytes) override {
    if (bytes.empty()) return;
    base::check(Interval{0, range_bytes_}.contains(bytes), "committed bytes lie in the device's range");
    const base::MutexLock lock(mutex_);
    std::vector<Interval> holes;
    Index more = 0;
    for (const Interval& granules : ledger_.missing(bytes)) {
      for (const Interval& hole : unmapped(granules)) {
        holes.push_back(hole);
        more += hole.size();
      }
    }
    check_limit(config_, bytes, mapped_bytes_, more);
    const Card::Current current(*config_.card);
    std::size_t made = 0;
    try {
      for (; made < holes.size(); ++made) map(holes[made]);
    } catch (const Error& e) {
      for (std::size_t i = 0; i < made; ++i) unmap(holes[i]);
      if (e.code() == ErrorCode::out_of_memory) refuse(config_, bytes.size(), mapped_bytes_, e.what());
      throw;
    }
    ledger_.commit(bytes);
  }

  void release(Interval bytes) override {
    if (bytes.empty()) return;
    const base::MutexLock lock(mutex_);
    const PageLedger::Ranges freed = ledger_.freed(bytes);
    ledger_.release(bytes);
    if (freed.empty()) return;
    const Card::Current current(*config_.card, std::nothrow);
    std::vector<Interval> idle;
    for (const Interval& granules : freed) {
      for (auto chunk = first_meeting(granules.begin); chunk != chunks_.end() && chunk->first < granules.end;
           ++chunk) {
        const Interval whole{chunk->first, chunk->first + chunk->second};
        if (idle.empty() || idle.back() != whole) idle.push_back(whole);
      }
    }
    for (const Interval& chunk : idle) {
      if (total(ledger_.missing(chunk)) == chunk.size()) unmap(chunk);
    }
  }

 private:
  using Chunks = absl::btree_map<Index, Index>;  // begin -> bytes

  static CUmemLocation location(const Card& card) {
    CUmemLocation where{};
    where.type = CU_MEM_LOCATION_TYPE_DEVICE;
    where.id = card.handle();
    return where;
  }
  static CUmemAccessDesc access_for(const Card& card) {
    return {location(card), CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  }

  CUmemAllocationProp properties() const {
    const Card& card = *config_.card;
    CUmemAllocationProp wanted{};
    wanted.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    wanted.location = location(card);
    if (card.attribute(CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED) != 0)
      wanted.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    if (card.attribute(CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED) != 0)
      wanted.allocFlags.gpuDirectRDMACapable = 1;
    return wanted;
  }
  Index granularity() const {
    const CUmemAllocationProp wanted = properties();
    std::size_t bytes = 0;
    driver_.check(driver_.cuMemGetAllocationGranularity(&bytes, &wanted, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
                  "cuMemGetAllocationGranularity", config_.owner);
    return static_cast<Index>(bytes);
  }

  Chunks::const_iterator first_meeting(Index position) const NUNA_REQUIRES(mutex_) {
    auto chunk = chunks_.upper_bound(position);
    if (chunk != chunks_.begin()) {
      const auto before = std::prev(chunk);
      if (before->first + before->second > position) return before;
    }
    return chunk;
  }
  // What of the range no chunk covers, in pieces that one chunk can be. A hole's first and last granule are chunks of their own: a
  // neighbour that shares them would else hold all of a large one.
  std::vector<Interval> unmapped(Interval range) const NUNA_REQUIRES(mutex_) {
    std::vector<Interval> holes;
    const auto add = [&](Index begin, Index end) {
      while (begin < end) {
        const bool edge = begin == range.begin || end - begin <= granule_;
        const Index size = edge ? granule_ : std::min(end - begin - granule_, kMostChunkBytes);
        holes.push_back({begin, begin + size});
        begin += size;
      }
    };
    Index at = range.begin;
    for (auto chunk = first_meeting(range.begin); chunk != chunks_.end() && chunk->first < range.end;
         ++chunk) {
      add(at, std::max(at, chunk->first));
      at = std::max(at, chunk->first + chunk->second);
    }
    add(at, range.end);
    return holes;
  }

  void map(Interval chunk) NUNA_REQUIRES(mutex_) {
    const auto size = static_cast<std::size_t>(chunk.size());
    const auto about = [&] { return base::print_bytes(chunk.size()) + " on " + config_.owner; };
    const CUmemAllocationProp wanted = properties();
    CUmemGenericAllocationHandle memory = 0;
    driver_.check(driver_.cuMemCreate(&memory, size, &wanted, 0), "cuMemCreate", about());
    const CUdeviceptr at = address_of(base_ + chunk.begin);
    const CUresult mapped = driver_.cuMemMap(at, size, 0, memory, 0);
    driver_.cuMemRelease(memory);  // the mapping keeps it
    driver_.check(mapped, "cuMemMap", about());
    const CUresult opened = driver_.cuMemSetAccess(at, size, access_.data(), access_.size());
    if (opened != CUDA_SUCCESS) {
      driver_.cuMemUnmap(at, size);
      throw driver_.failure(opened, "cuMemSetAccess", about());
    }
    chunks_.emplace(chunk.begin, chunk.size());
    mapped_bytes_ += chunk.size();
  }

  void unmap(Interval chunk) NUNA_REQUIRES(mutex_) {
    const CUresult result =
        driver_.cuMemUnmap(address_of(base_ + chunk.begin), static_cast<std::size_t>(chunk.size()));
    if (result != CUDA_SUCCESS && !config_.card->is_lost())
      base::warn_once("unmap " + config_.owner, driver_.failure(result, "cuMemUnmap", config_.owner).what());
    chunks_.erase(chunk.begin);
    mapped_bytes_ -= chunk.size();
  }

  const Config config_;
  const Driver& driver_;
  const Index granule_;
  const Index range_bytes_;
  std::byte* base_ = nullptr;
  std::vector<CUmemAccessDesc> access_;
  base::Mutex mutex_;
  PageLedger ledger_ NUNA_GUARDED_BY(mutex_);
  Chunks chunks_ NUNA_GUARDED_BY(mutex_);
  Index mapped_bytes_ NUNA_GUARDED_BY(mutex_) = 0;
};

class PlainMemory final : public CardMemory {
 public:
  explicit PlainMemory(Config config)
      : config_(std::move(config)),
        driver_(config_.card->driver()),
        range_bytes_(std::min(config_.range_bytes, config_.limit_bytes) / kPlainGranule * kPlainGranule),
        ledger_(kPlainGranule) {
    if (range_bytes_ < kLeastPlainBytes)
      refuse(config_, kLeastPlainBytes, 0, "plain memory has at least that much: raise NUNA_MEMORY_LIMIT");
    const Card::Current current(*config_.card);
    CUdeviceptr first = 0;
    const CUresult result = driver_.cuMemAlloc(&first, static_cast<std::size_t>(range_bytes_));
    if (result == CUDA_ERROR_OUT_OF_MEMORY) {
      refuse(config_, range_bytes_, 0,
             driver_.failure(result, "cuMemAlloc", base::print_bytes(range_bytes_) + " on " + config_.owner)
                 .what());
    }
    driver_.check(result, "cuMemAlloc", base::print_bytes(range_bytes_) + " on " + config_.owner);
    base_ = pointer_of(first);
  }
  ~PlainMemory() override {
    const Card::Current current(*config_.card, std::nothrow);
    driver_.cuMemFree(address_of(base_));
  }
  PlainMemory(const PlainMemory&) = delete;
  PlainMemory& operator=(const PlainMemory&) = delete;

  std::byte* base() const override { return base_; }
  Index range_bytes() const override { return range_bytes_; }
  void commit(Interval bytes) override {
    if (bytes.empty()) return;
    base::check(Interval{0, range_bytes_}.contains(bytes), "committed bytes lie in the device's range");
    const base::MutexLock lock(mutex_);
    check_limit(config_, bytes, ledger_.held_bytes(), total(ledger_.missing(bytes)));
    ledger_.commit(bytes);
  }
  void release(Interval bytes) override {
    const base::MutexLock lock(mutex_);
    ledger_.release(bytes);
  }

 private:
  const Config config_;
  const Driver& driver_;
  const Index range_bytes_;
  std::byte* base_ = nullptr;
  base::Mutex mutex_;
  PageLedger ledger_ NUNA_GUARDED_BY(mutex_);
};

// A plain allocation is reached by peers only after the peers' contexts were told.
void open_to_peers(const CardMemory::Config& config) {
  const Driver& driver = config.card->driver();
  CUcontext mine = nullptr;
  {
    const Card::Current current(*config.card);
    driver.cuCtxPopCurrent(&mine);
    driver.cuCtxPushCurrent(mine);
  }
  for (Card* peer : config.peers) {
    const Card::Current current(*peer);
    const CUresult result = driver.cuCtxEnablePeerAccess(mine, 0);
    if (result != CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED)
      driver.check(result, "cuCtxEnablePeerAccess", peer->name() + " to " + config.owner);
  }
}

}  // namespace

std::unique_ptr<CardMemory> CardMemory::make(Config config) {
  const bool mappable = config.card->attribute(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED) != 0;
  open_to_peers(config);  // also of mapped memory, for allocations that the program has and Nuna adopts
  if (mappable && !config.plain) return std::make_unique<MappedMemory>(std::move(config));
  return std::make_unique<PlainMemory>(std::move(config));
}

}  // namespace nuna::device::cuda
