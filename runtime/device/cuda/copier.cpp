#include "device/cuda/copier.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/units.hpp"
#include "device/cuda/builtin.hpp"
#include "device/cuda/copy_form.hpp"
#include "device/nest.hpp"
#include "device/region_bytes.hpp"

namespace nuna::device::cuda {
namespace {

constexpr Index kThreads = 256;
constexpr Index kMostBlocks = 4096;

CUdeviceptr address_of(const std::byte* p) { return reinterpret_cast<CUdeviceptr>(p); }

Region run_of(std::byte* first, Index bytes) {
  Region r;
  r.first = first;
  r.run_bytes = bytes;
  return r;
}

// A run of bytes of which [begin, ...) lies at `block`: so a part of a region and of a block are counted alike.
Region window_at(std::byte* block, Index begin, Index whole) {
  const auto first = reinterpret_cast<std::uintptr_t>(block) - static_cast<std::uintptr_t>(begin);
  return run_of(reinterpret_cast<std::byte*>(first), whole);  // NOLINT(performance-no-int-to-ptr)
}

void launch(const Driver& driver, CUfunction function, Index items, void** parameters, CUstream stream,
            const std::string& about) {
  const auto blocks =
      static_cast<unsigned>(std::clamp<Index>((items + kThreads - 1) / kThreads, 1, kMostBlocks));
  driver.check(driver.cuLaunchKernel(function, blocks, 1, 1, kThreads, 1, 1, 0, stream, parameters, nullptr),
               "cuLaunchKernel", about);
}

}  // namespace

// Two pinned blocks, in turn, with an event that says when the engine is done with each.
struct Copier::Bounce {
  explicit Bounce(const Driver& cuda) : driver(cuda) {
    for (auto& side : sides) {
      void* memory = nullptr;
      driver.check(
          driver.cuMemHostAlloc(&memory, static_cast<std::size_t>(kBlockBytes), CU_MEMHOSTALLOC_PORTABLE),
          "cuMemHostAlloc", "a pinned block of " + base::print_bytes(kBlockBytes));
      side.block = static_cast<std::byte*>(memory);
      driver.check(driver.cuEventCreate(&side.done, CU_EVENT_DISABLE_TIMING | CU_EVENT_BLOCKING_SYNC),
                   "cuEventCreate", "for a pinned block");
    }
  }
  ~Bounce() {
    for (auto& side : sides) {
      driver.cuEventDestroy(side.done);
      driver.cuMemFreeHost(side.block);
    }
  }
  Bounce(const Bounce&) = delete;
  Bounce& operator=(const Bounce&) = delete;

  struct Side {
    std::byte* block = nullptr;
    CUevent done = nullptr;
    Interval bytes;  // of the copy, that the engine was told to bring here
  };
  // Waits until the engine has done what it was told to do with the block.
  void wait(const Side& side) const {
    CUresult state = CUDA_SUCCESS;
    base::Doorbell silent;
    base::Doorbell::Pace pace;
    while ((state = driver.cuEventQuery(side.done)) == CUDA_ERROR_NOT_READY) pace.rest(silent);
    driver.check(state, "cuEventQuery", "a copy through pinned blocks");
  }
  void record(const Side& side, CUstream stream) const {
    driver.check(driver.cuEventRecord(side.done, stream), "cuEventRecord", "for a pinned block");
  }

  const Driver& driver;
  std::array<Side, 2> sides;
};

Copier::Copier(Config config)
    : config_(std::move(config)),
      driver_(config_.card->driver()),
      kernels_reach_pinned_(
          config_.card->attribute(CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM) != 0) {}

Copier::~Copier() {
  try {
    const Card::Current current(*config_.card);
    for (auto& bounce : bounces_) bounce.reset();
  } catch (const Error&) {  // a broken context takes them along
  }
}

std::string Copier::about(const Region& to) const {
  return base::print_bytes(to.bytes()) + " by " + config_.owner;
}

Copier::Kind Copier::kind_of(const std::byte* first) const {
  if (config_.own.contains(static_cast<Index>(reinterpret_cast<std::uintptr_t>(first)))) return Kind::device;
  unsigned type = 0;
  if (driver_.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address_of(first)) !=
      CUDA_SUCCESS)
    return Kind::pageable;
  if (type == CU_MEMORYTYPE_DEVICE) return Kind::device;
  return type == CU_MEMORYTYPE_HOST ? Kind::pinned : Kind::pageable;
}

// Memory that the program pinned stays so; it may be copied in place if one such piece holds all of it. What Nuna pinned may
// be given up at any time.
bool Copier::pinned_by_others(const std::byte* begin, const std::byte* end) const {
  if (kind_of(begin) != Kind::pinned || (config_.pins != nullptr && config_.pins->manages(begin)))
    return false;
  CUdeviceptr first = 0;
  std::size_t bytes = 0;
  if (driver_.cuPointerGetAttribute(&first, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address_of(begin)) !=
          CUDA_SUCCESS ||
      driver_.cuPointerGetAttribute(&bytes, CU_POINTER_ATTRIBUTE_RANGE_SIZE, address_of(begin)) !=
          CUDA_SUCCESS)
    return false;
  return address_of(end) <= first + bytes;
}

bool Copier::copy(const Region& to, const Region& from, Lane::Start& start) {
  if (to.bytes() == 0) return true;
  const std::optional<Nest> nest = common_nest(to, from);
  const std::optional<CopyForm> form = nest ? copy_form(*nest) : std::nullopt;
  const bool reachable = form.has_value() || kernels_reach_pinned_;
  bool to_device = true;
  for (const Region* side : {&to, &from}) {
    if (kind_of(side->first) == Kind::device) continue;
    to_device = side == &from;
    const Hull touched = hull(*side);
    HostPins::Pin pin;
    if (reachable && config_.pins != nullptr)
      pin = config_.pins->pin(touched.begin, touched.end - touched.begin, side->bytes());
    if (pin != nullptr) {
      start.holds.push_back(std::move(pin));
      continue;
    }
    if (reachable && pinned_by_others(touched.begin, touched.end)) continue;
    if (!start.may_block) return false;
    bounced(to, from, to_device, start.stream);
    return true;
  }
  straight(to, from, form, start.stream);
  return true;
}

void Copier::straight(const Region& to, const Region& from, const std::optional<CopyForm>& form,
                      CUstream stream) const {
  if (!form) return by_kernel(to, from, {0, to.bytes()}, stream);
  if (form->height == 1 && form->depth == 1) {
    driver_.check(driver_.cuMemcpyAsync(address_of(to.first), address_of(from.first),
                                        static_cast<std::size_t>(form->width), stream),
                  "cuMemcpyAsync", about(to));
    return;
  }
  CUDA_MEMCPY3D call{};
  call.dstMemoryType = call.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
  call.dstDevice = address_of(to.first);
  call.srcDevice = address_of(from.first);
  call.dstPitch = static_cast<std::size_t>(form->to_pitch);
  call.srcPitch = static_cast<std::size_t>(form->from_pitch);
  call.dstHeight = static_cast<std::size_t>(form->to_rows);
  call.srcHeight = static_cast<std::size_t>(form->from_rows);
  call.WidthInBytes = static_cast<std::size_t>(form->width);
  call.Height = static_cast<std::size_t>(form->height);
  call.Depth = static_cast<std::size_t>(form->depth);
  driver_.check(driver_.cuMemcpy3DAsync(&call, stream), "cuMemcpy3DAsync", about(to));
}

void Copier::by_kernel(const Region& to, const Region& from, Interval bytes, CUstream stream) const {
  int unit = unit_of(to, from);
  while (bytes.begin % unit != 0 || bytes.end % unit != 0) unit /= 2;
  Region target = to;
  Region source = from;
  Index begin = bytes.begin;
  Index end = bytes.end;
  void* parameters[] = {&target, &source, &begin, &end, &unit};
  launch(driver_, config_.card->builtin(kCopyBytes), bytes.size() / unit, parameters, stream, about(to));
}

// Bytes [bytes) of the device's region, which are at the beginning of the block (or are to be).
void Copier::part(const Region& device, std::byte* block, Interval bytes, bool to_device,
                  CUstream stream) const {
  if (device.contiguous()) {
    std::byte* there = device.first + bytes.begin;
    driver_.check(
        driver_.cuMemcpyAsync(address_of(to_device ? there : block), address_of(to_device ? block : there),
                              static_cast<std::size_t>(bytes.size()), stream),
        "cuMemcpyAsync", about(device));
    return;
  }
  const Region window = window_at(block, bytes.begin, device.bytes());
  if (to_device) {
    by_kernel(device, window, bytes, stream);
  } else {
    by_kernel(window, device, bytes, stream);
  }
}

void Copier::bounced(const Region& to, const Region& from, bool to_device, CUstream stream) {
  std::unique_ptr<Bounce>& bounce = bounces_[to_device ? 0 : 1];
  if (bounce == nullptr) bounce = std::make_unique<Bounce>(driver_);
  // The CPU is about to touch the host's bytes: what the stream waits for must be over.
  driver_.check(driver_.cuStreamSynchronize(stream), "cuStreamSynchronize", about(to));
  for (Bounce::Side& side : bounce->sides) side.bytes = {};  // of a copy that failed
  const Index whole = to.bytes();
  const auto empty = [&](Bounce::Side& side) {  // a block that came from the device, into the host's region
    if (side.bytes.empty()) return;
    bounce->wait(side);
    copy_part(to, window_at(side.block, side.bytes.begin, whole), side.bytes);
    side.bytes = {};
  };
  std::size_t turn = 0;
  for (Index begin = 0; begin < whole; begin += kBlockBytes, turn ^= 1) {
    Bounce::Side& side = bounce->sides[turn];
    const Interval bytes{begin, std::min(whole, begin + kBlockBytes)};
    if (to_device) {
      bounce->wait(side);
      copy_part(window_at(side.block, begin, whole), from, bytes);
      part(to, side.block, bytes, true, stream);
    } else {
      empty(side);
      part(from, side.block, bytes, false, stream);
      side.bytes = bytes;
    }
    bounce->record(side, stream);
  }
  if (to_device) return;
  empty(bounce->sides[turn]);
  empty(bounce->sides[turn ^ 1]);
}

void Copier::fill(const Region& to, std::byte value, Lane::Start& start) {
  const Index whole = to.bytes();
  if (whole == 0) return;
  const auto byte = std::to_integer<unsigned char>(value);
  const std::optional<CopyForm> form = copy_form(*common_nest(to, to));
  if (form && form->height == 1 && form->depth == 1) {
    driver_.check(
        driver_.cuMemsetD8Async(address_of(to.first), byte, static_cast<std::size_t>(whole), start.stream),
        "cuMemsetD8Async", about(to));
  } else if (form && form->depth == 1) {
    driver_.check(driver_.cuMemsetD2D8Async(address_of(to.first), static_cast<std::size_t>(form->to_pitch),
                                            byte, static_cast<std::size_t>(form->width),
                                            static_cast<std::size_t>(form->height), start.stream),
                  "cuMemsetD2D8Async", about(to));
  } else {
    Region target = to;
    unsigned char filled = byte;
    void* parameters[] = {&target, &filled};
    launch(driver_, config_.card->builtin(kFillBytes), whole, parameters, start.stream, about(to));
  }
}

}  // namespace nuna::device::cuda
