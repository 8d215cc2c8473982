#include "cluster/peer_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <thread>

#include "base/mutex.hpp"

namespace nuna::cluster {
namespace {

constexpr Index kSmallestMapping = Index{64} << 20;

struct Registry {
  base::Mutex mutex;
  std::map<std::uint64_t, std::weak_ptr<SharedMemory>> known NUNA_GUARDED_BY(mutex);

  static Registry& of_process() {
    static auto* const only = new Registry;  // outlives whatever a static destructor still holds
    return *only;
  }
};

}  // namespace

std::shared_ptr<SharedMemory> SharedMemory::publish(std::uint64_t token, std::vector<std::byte*> bases) {
  const std::shared_ptr<SharedMemory> memory(new SharedMemory(token, std::move(bases)));
  Registry& registry = Registry::of_process();
  const base::MutexLock lock(registry.mutex);
  registry.known[token] = memory;
  return memory;
}

std::shared_ptr<SharedMemory> SharedMemory::find(std::uint64_t token) {
  Registry& registry = Registry::of_process();
  const base::MutexLock lock(registry.mutex);
  const auto found = registry.known.find(token);
  return found == registry.known.end() ? nullptr : found->second.lock();
}

SharedMemory::~SharedMemory() {
  Registry& registry = Registry::of_process();
  const base::MutexLock lock(registry.mutex);
  registry.known.erase(token_);
}

bool SharedMemory::enter() {
  readers_.fetch_add(1);
  if (!closed_.load()) return true;
  readers_.fetch_sub(1);
  return false;
}

void SharedMemory::close() {
  closed_.store(true);
  while (readers_.load() > 0) std::this_thread::yield();  // for as long as one piece of a copy takes
}

PeerMemory::Mapping::~Mapping() { ::munmap(first, static_cast<std::size_t>(bytes)); }

Lease PeerMemory::borrow(base::PlaceId place, Interval bytes) {
  if (in_process()) {
    auto owner = here_.lock();
    if (owner == nullptr || !owner->has(place) || !owner->enter()) return {};
    const std::byte* const first = owner->base(place) + bytes.begin;
    return Lease(first, std::move(owner));
  }
  const auto index = static_cast<std::size_t>(place.value);
  if (index >= files_.size() || bytes.begin < 0 || bytes.end > bytes_) return {};
  auto& known = mapped_[index];
  if (!known.empty() && bytes.end <= known.back()->bytes) return Lease(known.back()->first + bytes.begin);
  if (refuse_mappings_) return {};
  Index size = kSmallestMapping;
  while (size < bytes.end) size *= 2;
  size = std::min(size, bytes_);
  void* const at = ::mmap(nullptr, static_cast<std::size_t>(size), PROT_READ, MAP_SHARED | MAP_NORESERVE,
                          files_[index].descriptor(), 0);
  if (at == MAP_FAILED) return {};
  ::madvise(at, static_cast<std::size_t>(size), MADV_DONTDUMP);
  ::madvise(at, static_cast<std::size_t>(size), MADV_DONTFORK);
  known.push_back(std::make_unique<Mapping>(static_cast<std::byte*>(at), size));
  return Lease(known.back()->first + bytes.begin);
}

bool PeerMemory::read(base::PlaceId place, Index offset, std::span<std::byte> into) const {
  if (in_process() || static_cast<std::size_t>(place.value) >= files_.size()) return false;
  const int file = files_[static_cast<std::size_t>(place.value)].descriptor();
  while (!into.empty()) {
    const ssize_t got = ::pread(file, into.data(), into.size(), offset);
    if (got <= 0) return false;
    offset += got;
    into = into.subspan(static_cast<std::size_t>(got));
  }
  return true;
}

}  // namespace nuna::cluster
