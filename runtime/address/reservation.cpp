#include "address/reservation.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/check.hpp"

namespace nuna::address {
namespace {

void* reserve(std::uintptr_t address, Index bytes, int flags) {
  void* const wanted = reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
  return mmap(wanted, static_cast<std::size_t>(bytes), PROT_NONE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
}

}  // namespace

File::File(File&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

File& File::operator=(File&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

File::~File() {
  if (descriptor_ >= 0) close(descriptor_);
}

std::optional<Reservation> Reservation::at(std::uintptr_t address, Index bytes) {
  void* const got = reserve(address, bytes, MAP_FIXED_NOREPLACE);
  if (got == MAP_FAILED) return std::nullopt;
  Reservation reservation(static_cast<std::byte*>(got), bytes);
  // A kernel that does not know the flag takes the address as a hint.
  if (reinterpret_cast<std::uintptr_t>(got) != address) return std::nullopt;
  return reservation;
}

std::optional<Reservation> Reservation::anywhere(Index bytes) {
  void* const got = reserve(0, bytes, 0);
  if (got == MAP_FAILED) return std::nullopt;
  return Reservation(static_cast<std::byte*>(got), bytes);
}

Reservation::Reservation(Reservation&& other) noexcept
    : begin_(std::exchange(other.begin_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

Reservation& Reservation::operator=(Reservation&& other) noexcept {
  std::swap(begin_, other.begin_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Reservation::~Reservation() {
  if (begin_ != nullptr) munmap(begin_, static_cast<std::size_t>(bytes_));
}

bool Reservation::map_private(Index offset, Index bytes) const {
  return map(offset, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

bool Reservation::map_shared(Index offset, Index bytes, const File& file) const {
  return map(offset, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor());
}

bool Reservation::map_closed(Index offset, Index bytes, const File& file) const {
  return map(offset, bytes, PROT_NONE, MAP_SHARED, file.descriptor());
}

bool Reservation::map_shared(Index offset, Index bytes) const {
  return map(offset, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1);
}

bool Reservation::map(Index offset, Index bytes, int protection, int flags, int descriptor) const {
  base::check(Interval{0, bytes_}.contains(Interval{offset, offset + bytes}),
              "a slot leaves its reservation");
  const auto size = static_cast<std::size_t>(bytes);
  void* const slot =
      mmap(begin_ + offset, size, protection, flags | MAP_FIXED | MAP_NORESERVE, descriptor, 0);
  if (slot == MAP_FAILED) return false;
  // Both are courtesies: a kernel that refuses them still gives memory.
  madvise(slot, size, MADV_DONTDUMP);
  madvise(slot, size, MADV_DONTFORK);
  return true;
}

std::optional<File> memory_file(Index bytes) {
  rlimit limit{};
  // Past the limit ftruncate does not fail, it kills by SIGXFSZ.
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < static_cast<rlim_t>(bytes))
    return std::nullopt;
  File file(memfd_create("nuna-host", MFD_CLOEXEC));
  if (file.descriptor() < 0 || ftruncate(file.descriptor(), bytes) != 0) return std::nullopt;
  return file;
}

std::optional<Index> address_space_left() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  long long pages = 0;
  if (std::FILE* const statm = std::fopen("/proc/self/statm", "re")) {
    if (std::fscanf(statm, "%lld", &pages) != 1) pages = 0;
    std::fclose(statm);
  }
  const Index used = static_cast<Index>(pages) * static_cast<Index>(sysconf(_SC_PAGESIZE));
  const rlim_t most = std::min<rlim_t>(limit.rlim_cur, static_cast<rlim_t>(INT64_MAX));
  return std::max<Index>(0, static_cast<Index>(most) - used);
}

}  // namespace nuna::address
