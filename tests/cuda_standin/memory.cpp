// The address space: reservations by mmap without access, ranges in a map, and pictures of it for those that run.

#include "memory.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

namespace standin {
namespace {

// By the system call: nobody touches these pages, so no sanitizer needs to prepare for a terabyte of them.
std::uint64_t map_nothing(std::uint64_t wish, std::size_t size_bytes, int flags) {
  const auto mapped = syscall(SYS_mmap, wish, size_bytes, PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
  return mapped == -1 ? 0 : static_cast<std::uint64_t>(mapped);
}

void unmap_nothing(std::uint64_t address, std::size_t size_bytes) {
  if (size_bytes > 0) syscall(SYS_munmap, address, size_bytes);
}

std::uint64_t bit(int device) { return std::uint64_t{1} << device; }

}  // namespace

const Range* Reach::find(std::uint64_t address) const {
  auto after = std::upper_bound(ranges_->begin(), ranges_->end(), address,
                                [](std::uint64_t a, const auto& range) { return a < range->begin; });
  if (after == ranges_->begin()) return nullptr;
  const Range* range = (--after)->get();
  return address < range->end ? range : nullptr;
}

Reach::Piece Reach::at(std::uint64_t address, bool write) const {
  const Range* range = find(address);
  if (range == nullptr) return {};
  const bool own = ((write ? range->writers : range->readers) & bit(device_)) != 0;
  const bool as_peer = range->kind == RangeKind::kAllocated && (peers_ & bit(range->device)) != 0;
  if (!own && !as_peer) return {};
  return {range->bytes + (address - range->begin), range->end - address, range};
}

std::uint64_t AddressSpace::reserve(std::size_t size_bytes, std::size_t alignment, std::uint64_t wish) {
  std::lock_guard lock(mutex_);
  std::uint64_t address = 0;
  if (wish != 0 && wish % alignment == 0) {
    address = map_nothing(wish, size_bytes, MAP_FIXED_NOREPLACE);
    if (address != 0 && address != wish) {
      unmap_nothing(address, size_bytes);
      address = 0;
    }
  }
  if (address == 0) {
    const std::uint64_t wide = map_nothing(0, size_bytes + alignment, 0);
    if (wide == 0) return 0;
    address = (wide + alignment - 1) / alignment * alignment;
    unmap_nothing(wide, address - wide);
    unmap_nothing(address + size_bytes, wide + alignment - address);
  }
  reservations_[address] = size_bytes;
  return address;
}

bool AddressSpace::unreserve(std::uint64_t address, std::size_t size_bytes) {
  std::lock_guard lock(mutex_);
  const auto found = reservations_.find(address);
  if (found == reservations_.end() || found->second != size_bytes) return false;
  const auto range = ranges_.lower_bound(address);
  if (range != ranges_.end() && range->first < address + size_bytes) return false;
  reservations_.erase(found);
  unmap_nothing(address, size_bytes);
  return true;
}

bool AddressSpace::reserved(std::uint64_t address, std::size_t size_bytes) const {
  std::lock_guard lock(mutex_);
  auto after = reservations_.upper_bound(address);
  if (after == reservations_.begin()) return false;
  --after;
  return address - after->first <= after->second && size_bytes <= after->second - (address - after->first);
}

bool AddressSpace::insert(Range range) {
  std::lock_guard lock(mutex_);
  const auto after = ranges_.lower_bound(range.begin);
  if (after != ranges_.end() && after->first < range.end) return false;
  if (after != ranges_.begin() && std::prev(after)->second->end > range.begin) return false;
  range.id = next_id_++;
  const auto begin = range.begin;
  ranges_.emplace(begin, std::make_shared<const Range>(std::move(range)));
  changed();
  return true;
}

std::vector<AddressSpace::Map::iterator> AddressSpace::tiles(std::uint64_t address, std::size_t size_bytes,
                                                             RangeKind kind) {
  std::vector<Map::iterator> result;
  std::uint64_t next = address;
  for (auto each = ranges_.find(address); each != ranges_.end() && next < address + size_bytes; ++each) {
    if (each->first != next || each->second->kind != kind) return {};
    result.push_back(each);
    next = each->second->end;
  }
  if (next != address + size_bytes) result.clear();
  return result;
}

bool AddressSpace::remove(std::uint64_t address, std::size_t size_bytes, RangeKind kind) {
  std::lock_guard lock(mutex_);
  const auto found = tiles(address, size_bytes, kind);
  for (const auto each : found) ranges_.erase(each);
  changed();
  return !found.empty();
}

bool AddressSpace::set_access(std::uint64_t address, std::size_t size_bytes, int device, bool read,
                              bool write) {
  std::lock_guard lock(mutex_);
  const auto found = tiles(address, size_bytes, RangeKind::kMapped);
  for (const auto each : found) {
    Range range = *each->second;
    range.readers = read ? range.readers | bit(device) : range.readers & ~bit(device);
    range.writers = write ? range.writers | bit(device) : range.writers & ~bit(device);
    each->second = std::make_shared<const Range>(std::move(range));
  }
  changed();
  return !found.empty();
}

std::shared_ptr<const Range> AddressSpace::find(std::uint64_t address) const {
  return first_within(address, 1);
}

std::shared_ptr<const Range> AddressSpace::first_within(std::uint64_t address, std::size_t size_bytes) const {
  std::lock_guard lock(mutex_);
  auto after = ranges_.upper_bound(address);
  if (after != ranges_.begin() && std::prev(after)->second->end > address) return std::prev(after)->second;
  if (after == ranges_.end() || after->first - address >= size_bytes) return nullptr;
  return after->second;
}

Ranges AddressSpace::all() const {
  std::lock_guard lock(mutex_);
  Ranges result;
  for (const auto& [begin, range] : ranges_) result.push_back(range);
  return result;
}

void AddressSpace::set_peer(int device, int peer, bool enabled) {
  auto& peers = peers_[static_cast<std::size_t>(device)];
  if (enabled)
    peers |= bit(peer);
  else
    peers &= ~bit(peer);
}

bool AddressSpace::peer(int device, int peer) const {
  return (peers_[static_cast<std::size_t>(device)] & bit(peer)) != 0;
}

Reach AddressSpace::reach(int device) const {
  std::lock_guard lock(mutex_);
  if (picture_ == nullptr) {
    auto picture = std::make_shared<Ranges>();
    picture->reserve(ranges_.size());
    for (const auto& [begin, range] : ranges_) picture->push_back(range);
    picture_ = std::move(picture);
  }
  return {picture_, device, peers_[static_cast<std::size_t>(device)].load()};
}

}  // namespace standin
