// Copies of Nuna's device boundary against cuMemcpyAsync and cuStreamSynchronize, of the same bytes of the same memory.

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "base/units.hpp"
#include "gpu/bare.hpp"

namespace nuna::gpu {
namespace {

constexpr double kAim = 0.95;
constexpr Index kMostOfSample = 50;       // copies
constexpr Index kLeastOfAim = 16 * kMiB;  // below, the time to learn of the end counts

device::Region run_of(std::byte* first, Index bytes) {
  device::Region run;
  run.first = first;
  run.run_bytes = bytes;
  return run;
}

/// A shared mapping of a file in memory, as the host place of a rank is; the copies pin it.
class HostPlace {
 public:
  HostPlace(Index bytes, std::shared_ptr<device::cuda::HostPins> pins)
      : bytes_(bytes), pins_(std::move(pins)) {
    file_ = memfd_create("benchmark", MFD_CLOEXEC);
    void* mapped = ftruncate(file_, bytes) != 0 ? MAP_FAILED
                                                : mmap(nullptr, static_cast<std::size_t>(bytes),
                                                       PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    if (mapped == MAP_FAILED)
      throw Error(ErrorCode::out_of_memory, "no memory for the host's side of the copies");
    first_ = static_cast<std::byte*>(mapped);
    std::memset(first_, 1, static_cast<std::size_t>(bytes));
    pins_->manage(first_, bytes_);
  }
  ~HostPlace() {
    pins_->unmanage(first_);
    munmap(first_, static_cast<std::size_t>(bytes_));
    close(file_);
  }
  HostPlace(const HostPlace&) = delete;
  HostPlace& operator=(const HostPlace&) = delete;
  std::byte* first() const { return first_; }

 private:
  Index bytes_;
  std::shared_ptr<device::cuda::HostPins> pins_;
  int file_ = -1;
  std::byte* first_ = nullptr;
};

/// One way of copying: from here to there, by `device`.
struct Way {
  std::string name;
  device::Device* device;
  std::byte* to;
  std::byte* from;
  double aim;
  Index sample_bytes = 64 * kMiB;
};

class Copies {
 public:
  Copies(const perf::Report& report, const Bare& bare) : report_(report), bare_(bare) {}

  /// Each copy waited for, before the next begins.
  void each(const Way& way, Index bytes) const {
    const auto times = static_cast<int>(std::clamp<Index>(way.sample_bytes / bytes, 1, kMostOfSample));
    row(way, bytes, times, bytes < kLeastOfAim ? perf::kNoAim : way.aim, ", one by one");
  }
  /// Copies of neighbouring bytes handed over together, and one wait.
  void together(const Way& way, Index bytes, int count) const {
    const double moved = static_cast<double>(bytes * count);
    report_.row(
        {way.name + ", " + std::to_string(count) + " of " + base::print_bytes(bytes) + " together", "GB/s",
         Better::more, way.aim},
        [&] {
          return moved * 1e-9 / perf::seconds_of([&] {
                   base::Ticket last;
                   for (int i = 0; i < count; ++i)
                     last = way.device->copy(run_of(way.to + i * bytes, bytes),
                                             run_of(way.from + i * bytes, bytes), {});
                   last.wait();
                 });
        },
        [&] {
          return moved * 1e-9 / perf::seconds_of([&] {
                   for (int i = 0; i < count; ++i)
                     bare_.copy(way.to + i * bytes, way.from + i * bytes, bytes);
                   bare_.settle();
                 });
        });
  }

 private:
  void row(const Way& way, Index bytes, int times, double aim, const char* how) const {
    const double moved = static_cast<double>(bytes) * times;
    report_.row(
        {way.name + ", " + base::print_bytes(bytes) + (times > 1 ? how : ""), "GB/s", Better::more, aim},
        [&] {
          return moved * 1e-9 / perf::seconds_of([&] {
                   for (int i = 0; i < times; ++i) {
                     const base::Ticket done =
                         way.device->copy(run_of(way.to, bytes), run_of(way.from, bytes), {});
                     done.wait();
                     if (done.failure() != nullptr) std::rethrow_exception(done.failure());
                   }
                 });
        },
        [&] {
          return moved * 1e-9 / perf::seconds_of([&] {
                   for (int i = 0; i < times; ++i) {
                     bare_.copy(way.to, way.from, bytes);
                     bare_.settle();
                   }
                 });
        });
  }

  const perf::Report& report_;
  const Bare& bare_;
};

void measure_peers(const Copies& copies, Rig& rig, const std::shared_ptr<device::cuda::HostPins>& pins,
                   const std::vector<Index>& sizes) {
  const auto& cards = device::cuda::Card::all();
  if (cards.size() < 2 || !cards[0]->reaches(*cards[1]) || !cards[1]->reaches(*cards[0])) return;
  Rig other(1, std::max(sizes.back(), 2 * kMiB), pins);
  other.device().commit({0, sizes.back()});
  for (const Index bytes : sizes) {
    copies.each({"card 1 to card 0", &rig.device(), rig.at(0), other.at(0), kAim}, bytes);
    copies.each({"card 0 to card 1", &rig.device(), other.at(0), rig.at(0), kAim}, bytes);
  }
}

}  // namespace

void measure_copies(const perf::Report& report, const Scale& scale) {
  const Bare bare;
  const auto pins = device::make_host_pins(0);
  const std::vector<Index> sizes =
      scale.small ? std::vector<Index>{64 * kKiB, 256 * kKiB}
                  : std::vector<Index>{64 * kKiB, kMiB, 16 * kMiB, 256 * kMiB, 1024 * kMiB};
  const Index most = sizes.back();
  Rig rig(0, 4 * std::max(most, 2 * kMiB), pins);
  rig.device().commit({0, 2 * most});
  const HostPlace place(most, pins);
  std::vector<std::byte> pageable(static_cast<std::size_t>(std::min(most, 256 * kMiB)), std::byte{1});
  const Copies copies(report, bare);
  rig.device().copy(run_of(rig.at(0), most), run_of(place.first(), most), {}).wait();  // pins all of it

  const Way in{"pinned host to device", &rig.device(), rig.at(0), place.first(), kAim};
  const Way out{"device to pinned host", &rig.device(), place.first(), rig.at(0), kAim};
  for (const Index bytes : sizes) {
    copies.each(in, bytes);
    copies.each(out, bytes);
    copies.each({"within the device", &rig.device(), rig.at(most), rig.at(0), kAim, 8192 * kMiB}, bytes);
  }
  copies.together(in, sizes[scale.small ? 0 : 1], scale.small ? 4 : 64);
  copies.together(out, sizes[scale.small ? 0 : 1], scale.small ? 4 : 64);
  for (const Index bytes : sizes) {
    if (bytes > static_cast<Index>(pageable.size())) break;
    copies.each({"pageable host to device", &rig.device(), rig.at(0), pageable.data(), perf::kNoAim}, bytes);
    copies.each({"device to pageable host", &rig.device(), pageable.data(), rig.at(0), perf::kNoAim}, bytes);
  }
  measure_peers(copies, rig, pins, sizes);
}

}  // namespace nuna::gpu
