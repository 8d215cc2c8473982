#include "nuna-bandwidth/memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <fstream>

#include "base/log.hpp"
#include "base/units.hpp"
#include "nuna-bandwidth/copies.hpp"
#include "nuna/error.hpp"
#include "topology/discover.hpp"

namespace nuna_bandwidth {

using nuna::Index;

HostBuffer::HostBuffer(Index bytes, bool pinned) : bytes_(static_cast<std::size_t>(bytes)) {
  void* at =
      ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (at == MAP_FAILED) {
    throw nuna::Error(
        nuna::ErrorCode::out_of_memory,
        "no memory for a staging buffer of " + nuna::base::rounded_bytes(bytes) + ": use --max-size");
  }
  first_ = static_cast<std::byte*>(at);
  locked_ = pinned && ::mlock(at, bytes_) == 0;
  if (pinned && !locked_) {
    nuna::base::warn_once("pinned", "a pinned buffer of " + nuna::base::rounded_bytes(bytes) +
                                        " could not be locked (ulimit -l): it is used all the same");
  }
}

HostBuffer::~HostBuffer() { ::munmap(first_, bytes_); }

PlaceBuffers::PlaceBuffers(nuna::detail::RankRuntime& runtime, Index bytes)
    : runtime_(runtime),
      bytes_(bytes),
      out_(runtime.arena().allocate(bytes)),
      in_(runtime.arena().allocate(bytes)) {
  const auto& places = runtime_.places();
  try {
    for (int p = 0; p < places.count(); ++p) {
      auto& device = places.at({p});
      device.commit({out_, out_ + bytes_});
      device.commit({in_, in_ + bytes_});
      // Their first touch is not part of any transfer.
      device.fill(region_of(out({p}), bytes_), std::byte{0}, {});
      device.fill(region_of(in({p}), bytes_), std::byte{0}, {}).wait();
    }
  } catch (...) {
    release();
    throw;
  }
}

PlaceBuffers::~PlaceBuffers() { release(); }

void PlaceBuffers::release() {
  for (int p = 0; p < runtime_.places().count(); ++p) {
    auto& device = runtime_.places().at({p});
    device.join({}).wait();
    device.release({out_, out_ + bytes_});
    device.release({in_, in_ + bytes_});
  }
  runtime_.arena().free(out_);
  runtime_.arena().free(in_);
}

int bytes_per_byte(int places, int ranks_on_node) {
  constexpr int kStaging = 2 * 2;  // unpinned and pinned, for each direction
  return ranks_on_node * (2 * places + kStaging);
}

std::vector<Index> that_fit(const std::vector<Index>& sizes, std::int64_t available_bytes, int places,
                            int ranks_on_node) {
  const std::int64_t most = available_bytes / 3 * 2 / bytes_per_byte(places, ranks_on_node);
  std::vector<Index> fitting;
  for (const Index size : sizes) {
    if (fitting.empty() || size <= most) fitting.push_back(size);
  }
  return fitting;
}

std::int64_t available_bytes() {
  std::ifstream in("/proc/meminfo");
  std::string word;
  std::int64_t kibibytes = 0;
  while (in >> word) {
    if (word == "MemAvailable:" && in >> kibibytes) break;
  }
  const std::int64_t available = kibibytes * 1024;
  const auto limit = nuna::topology::cgroup_memory_limit();
  return limit ? std::min<std::int64_t>(*limit, available) : available;
}

}  // namespace nuna_bandwidth
