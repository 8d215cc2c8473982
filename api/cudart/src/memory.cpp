#include "memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string>

#include "call.hpp"
#include "nuna/context.hpp"

namespace nuna::cudart {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{8} << 20;
constexpr std::size_t kChunkGranule = std::size_t{2} << 20;
constexpr std::size_t kPageBytes = 4096;
// Zeros before and behind what is allocated out of a chunk: kernels read a little outside of their arrays, which GPUs let them do.
constexpr std::size_t kMarginBytes = std::size_t{64} << 10;
// What chunks begin with lies at addresses that differ within a page: rows of grids whose length is a power of two share the few lines
// that a level-1 cache has for one distance from the page's begin, and do not share them with those of the next grid, too.
constexpr std::size_t kColourBytes = 1024;
constexpr std::size_t kColours = 4;

std::size_t rounded(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

bool is_device(Allocation::Kind kind) {
  return kind == Allocation::Kind::device || kind == Allocation::Kind::managed;
}

// The kernel of a chunk's only launch: tells where the chunk lies.
struct Locate {
  std::uintptr_t* address;
  static void run(const void* self, const Box&, const detail::InstanceView* views) {
    if (auto* const address = static_cast<const Locate*>(self)->address)
      *address = reinterpret_cast<std::uintptr_t>(views[0].origin);
  }
};

Event launch_locate(Context& context, const Buffer<std::byte, 1>& chunk, std::uintptr_t* address) {
  const detail::LaunchName name("cuda memory");
  const Extents one({1});
  const Domain domain(one);
  const AccessMap all = whole();
  detail::LaunchArgument argument;
  argument.buffer = &chunk.handle();
  argument.map = &all;
  argument.writes = true;
  detail::LaunchRequest request;
  request.name = &name;
  request.domain = &domain;
  request.device = 0;
  request.block = &one;
  request.kernel_block = &one;
  request.code.run = &Locate::run;
  request.code.form = detail::Form::blocks;
  request.closure = std::make_shared<const Locate>(Locate{address});
  request.arguments = &argument;
  request.argument_count = 1;
  return detail::launch(context.state(), request);
}

}  // namespace

void* Memory::allocate(std::size_t bytes, Allocation::Kind kind, unsigned int flags) {
  if (bytes == 0) return nullptr;
  if (kind == Allocation::Kind::pinned) {
    require(bytes <= limit_bytes_, cudaErrorMemoryAllocation);
    void* const memory = std::aligned_alloc(kPageBytes, rounded(bytes, kPageBytes));
    require(memory != nullptr, cudaErrorMemoryAllocation);
    const std::lock_guard lock(mutex_);
    return add({reinterpret_cast<std::uintptr_t>(memory), bytes, kind, flags});
  }
  require(bytes <= limit_bytes_, cudaErrorMemoryAllocation);
  const Turns::Turn turn = begin_change("an allocation", bytes);
  void* const memory = allocate_device(bytes, kind, flags);
  if (kind == Allocation::Kind::managed && context_.ranks() > 1) open_managed();
  return memory;
}

void* Memory::allocate_device(std::size_t bytes, Allocation::Kind kind, unsigned int flags) {
  const std::lock_guard lock(mutex_);
  free_returned();
  require(used_bytes_ + rounded(bytes, FreeList::kAlignment) <= limit_bytes_, cudaErrorMemoryAllocation);
  return add({take(bytes), bytes, kind, flags});
}

void* Memory::add(const Allocation& allocation) {
  allocations_[allocation.first] = allocation;
  ++changes_;
  if (is_device(allocation.kind)) {
    const std::size_t used = used_bytes_ += list_.taken_bytes(allocation.first);
    most_used_bytes_ = std::max(most_used_bytes_.load(), used);
  }
  return reinterpret_cast<void*>(allocation.first);
}

std::uintptr_t Memory::take(std::size_t bytes) {
  if (const std::uintptr_t first = list_.take(bytes)) return first;
  try {
    add_chunk(bytes);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::out_of_memory) throw;
    drop_unused(0);
    add_chunk(bytes);
  }
  return list_.take(bytes);
}

void Memory::add_chunk(std::size_t bytes) {
  // A small limit is not spent on one chunk.
  const std::size_t least = std::min(kChunkBytes, rounded(limit_bytes_ / 16, kPageBytes));
  const std::size_t wanted = bytes + 2 * kMarginBytes + (kColours - 1) * kColourBytes;
  const std::size_t size = wanted > least ? rounded(wanted, std::min(kChunkGranule, least)) : least;
  if (chunk_bytes_ + size > limit_bytes_) drop_unused(0);
  const std::size_t room = limit_bytes_ - std::min(limit_bytes_, chunk_bytes_);
  const std::size_t fits = std::min(size, room / kPageBytes * kPageBytes);
  require(fits >= bytes, cudaErrorMemoryAllocation);
  Bytes buffer(context_, {static_cast<Index>(fits)});
  const std::uintptr_t home = home_of(buffer);
  // The margins give way where memory is short.
  const std::size_t spare = fits - rounded(bytes, FreeList::kAlignment);
  const std::size_t before = std::min(kMarginBytes + ++chunks_made_ % kColours * kColourBytes, spare);
  const std::size_t behind = std::min(kMarginBytes, spare - before);
  chunk_bytes_ += fits;
  chunks_.emplace(home + before, Chunk{std::move(buffer), fits, home, chunks_made_});
  list_.add(home + before, fits - before - behind);
}

namespace {

// Whether Nuna fills fresh memory with NaN, in its lane's own time.
bool poisons() {
  const char* const setting = std::getenv("NUNA_POISON");
  return setting != nullptr && std::string(setting) != "0" && std::string(setting) != "off";
}

}  // namespace

// The launch takes the memory from the device's limit at once. Where the host place lies is asked the first time only: to ask is to
// wait for the lane.
std::uintptr_t Memory::home_of(Bytes& chunk) {
  if (several_devices_) {
    chunk.host(Access::write);  // so that nobody takes its zeros for bytes that were never written
    return reinterpret_cast<std::uintptr_t>(context_.ranks() > 1 ? chunk.address() : chunk.data());
  }
  const auto told = reinterpret_cast<std::uintptr_t>(chunk.address());
  if (shift_) {
    const Event done = launch_locate(context_, chunk, nullptr);
    if (poisons()) done.wait();
    return told + *shift_;
  }
  std::uintptr_t home = 0;
  launch_locate(context_, chunk, &home).wait();
  shift_ = home - told;
  return home;
}

void Memory::add_registered(void* first, std::size_t bytes, unsigned int flags) {
  const std::lock_guard lock(mutex_);
  const auto address = reinterpret_cast<std::uintptr_t>(first);
  const auto after = allocations_.lower_bound(address + bytes);
  if (after != allocations_.begin()) {
    const Allocation& before = std::prev(after)->second;
    require(before.first + before.bytes <= address, cudaErrorHostMemoryAlreadyRegistered);
  }
  add({address, bytes, Allocation::Kind::registered, flags});
}

bool Memory::free(const void* first, std::initializer_list<Allocation::Kind> kinds) {
  const std::lock_guard lock(mutex_);
  const auto found = allocations_.find(reinterpret_cast<std::uintptr_t>(first));
  if (found == allocations_.end()) return false;
  const Allocation allocation = found->second;
  if (std::find(kinds.begin(), kinds.end(), allocation.kind) == kinds.end()) return false;
  ++changes_;
  allocations_.erase(found);
  give_back(allocation);
  return true;
}

void Memory::free_later(const void* first) {
  const std::lock_guard lock(returning_);
  returned_.push_back(reinterpret_cast<std::uintptr_t>(first));
}

void Memory::free_returned() {
  std::vector<std::uintptr_t> returned;
  {
    const std::lock_guard lock(returning_);
    returned.swap(returned_);
  }
  for (const std::uintptr_t first : returned) {
    const auto found = allocations_.find(first);
    if (found == allocations_.end()) continue;
    give_back(found->second);
    ++changes_;
    allocations_.erase(found);
  }
}

std::size_t Memory::used_bytes() {
  const std::lock_guard lock(mutex_);
  free_returned();
  return used_bytes_.load();
}

void Memory::give_back(const Allocation& allocation) {
  if (is_device(allocation.kind)) used_bytes_ -= list_.give(allocation.first);
  if (allocation.kind == Allocation::Kind::pinned) std::free(reinterpret_cast<void*>(allocation.first));
}

std::optional<Allocation> Memory::find(const void* pointer) const {
  const std::lock_guard lock(mutex_);
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const auto after = allocations_.upper_bound(address);
  if (after == allocations_.begin()) return std::nullopt;
  const Allocation& candidate = std::prev(after)->second;
  if (address - candidate.first >= candidate.bytes) return std::nullopt;
  return candidate;
}

std::optional<Memory::Backing> Memory::backing(const void* pointer) {
  const std::lock_guard lock(mutex_);
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const auto after = chunks_.upper_bound(address);
  if (after == chunks_.begin()) return std::nullopt;
  Chunk& chunk = std::prev(after)->second;
  if (address - chunk.first >= chunk.bytes) return std::nullopt;
  return Backing{&chunk.buffer, chunk.number, chunk.first, chunk.bytes};
}

std::vector<Memory::Backing> Memory::backings() {
  const std::lock_guard lock(mutex_);
  std::vector<Backing> all;
  for (auto& [first, chunk] : chunks_) all.push_back({&chunk.buffer, chunk.number, chunk.first, chunk.bytes});
  return all;
}

void Memory::open_views() {
  const std::lock_guard lock(mutex_);
  for (auto& [first, chunk] : chunks_) chunk.buffer.data();
}

void Memory::open_managed() {
  const std::lock_guard lock(mutex_);
  for (auto& [first, chunk] : chunks_) {
    const auto begin = allocations_.lower_bound(chunk.first);
    const auto end = allocations_.lower_bound(chunk.first + chunk.bytes);
    const bool is_managed = std::any_of(
        begin, end, [](const auto& each) { return each.second.kind == Allocation::Kind::managed; });
    if (is_managed) open_led(chunk, true);
  }
}

void Memory::open_for_turn(bool everywhere, const std::optional<std::vector<const void*>>& pointers) {
  const std::lock_guard lock(mutex_);
  for (auto& [first, chunk] : chunks_) {
    const auto is_inside = [&chunk](const void* pointer) {
      return reinterpret_cast<std::uintptr_t>(pointer) - chunk.first < chunk.bytes;
    };
    if (!pointers || std::any_of(pointers->begin(), pointers->end(), is_inside)) open_led(chunk, everywhere);
  }
}

void Memory::open_led(Chunk& chunk, bool everywhere) {
  chunk.buffer.handle().open_led(everywhere, {"cuda memory", 0});
}

bool Memory::close_views() {
  const std::lock_guard lock(mutex_);
  bool unequal = false;
  for (auto& [first, chunk] : chunks_) {
    try {
      chunk.buffer.close();
    } catch (const Error& error) {
      if (error.code() != ErrorCode::unequal_fill) throw;
      unequal = true;
    }
  }
  return unequal;
}

void Memory::trim(std::size_t keep_bytes) {
  const Turns::Turn turn = begin_change("a trim", keep_bytes);
  const std::lock_guard lock(mutex_);
  free_returned();
  drop_unused(keep_bytes);
}

void Memory::drop_unused(std::size_t keep_bytes) {
  std::size_t unused = 0;
  for (const std::uintptr_t first : list_.unused()) {
    const std::size_t bytes = chunks_.at(first).bytes;
    unused += bytes;
    if (unused <= keep_bytes) continue;
    unused -= bytes;
    list_.remove(first);
    ++changes_;
    chunks_.erase(first);
    chunk_bytes_ -= bytes;
  }
}

void Memory::clear() {
  const std::lock_guard lock(mutex_);
  free_returned();
  for (const auto& [first, allocation] : allocations_) give_back(allocation);
  ++changes_;
  allocations_.clear();
  drop_unused(0);
}

}  // namespace nuna::cudart
