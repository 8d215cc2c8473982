#include "device/cuda/cuda_device.hpp"

#include <algorithm>
#include <atomic>
#include <span>
#include <thread>
#include <utility>

#include "base/check.hpp"
#include "base/log.hpp"
#include "base/units.hpp"
#include "base/worker_thread.hpp"
#include "device/cuda/card.hpp"
#include "device/cuda/card_memory.hpp"
#include "device/cuda/copier.hpp"
#include "device/cuda/grid_modules.hpp"
#include "device/cuda/host_pins.hpp"
#include "device/cuda/lane.hpp"
#include "device/cuda/launch_shape.hpp"
#include "device/region_bytes.hpp"
#include "nuna/error.hpp"

namespace nuna::device {
namespace cuda {
namespace {

Card& card_at(int ordinal) {
  const auto& cards = Card::all();
  base::check(0 <= ordinal && ordinal < static_cast<int>(cards.size()), "a device is on a card that exists");
  return *cards[static_cast<std::size_t>(ordinal)];
}

CardMemory::Config memory_of(const CudaDeviceConfig& config) {
  CardMemory::Config memory;
  memory.owner = config.name;
  memory.card = &card_at(config.card);
  for (const int peer : config.peers) memory.peers.push_back(&card_at(peer));
  memory.range_bytes = static_cast<Index>(config.range_bytes);
  memory.limit_bytes = static_cast<Index>(config.memory_bytes);
  memory.wished = config.wished;
  memory.plain = config.plain_memory;
  return memory;
}

Interval addresses_of(const CardMemory& memory) {
  const auto begin = static_cast<Index>(reinterpret_cast<std::uintptr_t>(memory.base()));
  return {begin, begin + memory.range_bytes()};
}

// What a kernel's launch needs, kept until it is on the stream.
struct Call {
  KernelCall kernel;
  Card* card;
  GridModules* modules;
  std::string device;

  bool start(Lane::Start& start) {
    if (kernel.threads.empty()) return true;
    if (kernel.code.form == detail::Form::parts) return start_part(start);
    if (kernel.code.cuda == nullptr) {
      throw Error(ErrorCode::unsupported,
                  "kernel '" + std::string(kernel.name) + "' cannot run on device " + device +
                      ": it was compiled for the CPU only; name its file in nuna_add_kernels(), "
                      "with trivially copyable kernels and arguments");
    }
    if (kernel.code.cuda->grid != nullptr) return start_grid(start);
    const CUfunction function = card->function(*kernel.code.cuda, kernel.name);
    const bool by_block = kernel.code.form == detail::Form::blocks;
    const LaunchShape shape = by_block ? shape_of_blocks(kernel.threads, kernel.blocks)
                                       : shape_of_threads(kernel.threads, kernel.blocks);
    if (shape.grid[0] == 0) {
      throw Error(ErrorCode::unsupported, "kernel '" + std::string(kernel.name) + "' on device " + device +
                                              ": one device runs at most 2^31 - 1 blocks; use larger blocks");
    }
    void* parameters[] = {const_cast<void*>(kernel.closure.get()), kernel.views.data(), &kernel.threads,
                          &kernel.blocks};
    const Driver& driver = card->driver();
    const CUresult result =
        driver.cuLaunchKernel(function, shape.grid[0], shape.grid[1], shape.grid[2], shape.block[0],
                              shape.block[1], shape.block[2], 0, start.stream, parameters, nullptr);
    if (result != CUDA_SUCCESS) [[unlikely]]
      throw driver.failure(result, "cuLaunchKernel", "'" + std::string(kernel.name) + "' on " + device);
    return true;
  }

  bool start_grid(Lane::Start& start) {
    detail::CudaGrid grid;
    kernel.code.cuda->grid(kernel.closure.get(), kernel.threads, kernel.views.data(), grid);
    return modules->launch(grid, kernel.name, start);
  }

  // The user's function may take long.
  bool start_part(Lane::Start& start) {
    if (!start.may_block) return false;
    kernel.code.part(kernel.closure.get(), kernel.threads, kernel.views.data(),
                     {card->ordinal(), start.stream});
    return true;
  }
};

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(const CudaDeviceConfig& config)
      : card_(card_at(config.card)),
        memory_(CardMemory::make(memory_of(config))),
        properties_{config.name, threads_of(card_), config.memory_bytes, false, false, false},
        copier_({config.name, &card_, addresses_of(*memory_), config.pins}),
        modules_(card_, config.name),
        bell_(*config.bell),
        keeper_bell_(config.spin),
        work_(lane(config, 0, "", false)),
        in_(lane(config, 1, " in", true)),
        out_(lane(config, 2, " out", true)),
        keeper_(base::start_worker(config.name, [this] { keep(); })) {
    card_.watch(this, [this] {
      for (const Lane* each : {&work_, &in_, &out_}) {
        if (std::string what = each->running(); !what.empty()) return what + " on " + properties_.name;
      }
      return std::string();
    });
  }

  ~CudaDevice() override {
    for (Lane* each : {&work_, &in_, &out_}) each->drain();
    card_.unwatch(this);
    stop_.store(true, std::memory_order_release);
    keeper_bell_.ring();
    keeper_.join();
  }
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  const Properties& properties() const override { return properties_; }
  Index range_bytes() const override { return memory_->range_bytes(); }
  std::byte* base() const override { return memory_->base(); }
  bool holds(const void* memory) const override {
    const auto at = reinterpret_cast<CUdeviceptr>(memory);
    unsigned type = 0;
    int ordinal = -1;
    const Driver& driver = card_.driver();
    return driver.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at) == CUDA_SUCCESS &&
           type == CU_MEMORYTYPE_DEVICE &&
           driver.cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, at) == CUDA_SUCCESS &&
           ordinal == card_.ordinal();
  }
  void commit(Interval bytes) override { memory_->commit(bytes); }
  void release(Interval bytes) override { memory_->release(bytes); }

  base::Ticket run(KernelCall call, After after) override {
    const std::string_view name = call.name;
    return work_.submit({name, trace::Category::launch, 0}, after,
                        [call = Call{std::move(call), &card_, &modules_, properties_.name}](
                            Lane::Start& start) mutable { return call.start(start); });
  }

  base::Ticket copy(const Region& to, const Region& from, After after) override {
    base::check(to.bytes() == from.bytes(), "both regions of a copy have the same number of bytes");
    base::check(!overlap(to, from) || identical(to, from), "the regions of a copy do not overlap");
    Lane& lane = copier_.kind_of(to.first) == Copier::Kind::device ? in_ : out_;
    return lane.submit({"copy", trace::Category::copy, to.bytes()}, after,
                       [this, to, from](Lane::Start& start) { return copier_.copy(to, from, start); });
  }

  base::Ticket fill(const Region& to, std::byte value, After after) override {
    return work_.submit({"fill", trace::Category::fill, to.bytes()}, after,
                        [this, to, value](Lane::Start& start) {
                          copier_.fill(to, value, start);
                          return true;
                        });
  }

  base::Ticket join(After after) override {
    absl::InlinedVector<base::Ticket, 8> all(after.begin(), after.end());
    for (Lane* copies : {&in_, &out_}) {
      all.push_back(copies->last());
      all.back().order_only = true;
    }
    return work_.submit({"join", trace::Category::wait, 0}, all, [](Lane::Start&) { return true; });
  }

 private:
  static int threads_of(const Card& card) {
    return std::max(1, card.attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) *
                           card.attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR));
  }
  Lane::Config lane(const CudaDeviceConfig& config, std::size_t track, const char* suffix, bool urgent) {
    return {&card_, config.name + suffix, config.bell,         &keeper_bell_,
            urgent, config.recorder,      config.tracks[track]};
  }

  // ---- the keeper ----

  bool in_flight() const { return work_.in_flight() || in_.in_flight() || out_.in_flight(); }

  void keep() {
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::microseconds kAtOnce{50};
    constexpr std::chrono::microseconds kLongestPause{100};
    const Card::Current current(card_, std::nothrow);
    auto moved = Clock::now();
    for (;;) {
      if (!in_flight()) {
        if (stop_.load(std::memory_order_acquire)) return;
        keeper_bell_.wait_asleep([this] { return in_flight() || stop_.load(std::memory_order_acquire); });
        moved = Clock::now();
      }
      bool progress = work_.advance();
      progress = in_.advance() || progress;
      progress = out_.advance() || progress;
      bell_.pass();
      if (progress) {
        moved = Clock::now();
        continue;
      }
      // A pause is a fraction of what was waited already, so that it adds little to it.
      const auto waited = Clock::now() - moved;
      if (waited < kAtOnce) {
        std::this_thread::yield();
      } else {
        std::this_thread::sleep_for(std::min<Clock::duration>(waited / 16, kLongestPause));
      }
    }
  }

  Card& card_;
  const std::unique_ptr<CardMemory> memory_;
  const Properties properties_;
  Copier copier_;
  GridModules modules_;
  base::Doorbell& bell_;
  base::Doorbell keeper_bell_;
  std::atomic<bool> stop_{false};
  Lane work_;
  Lane in_;
  Lane out_;
  std::thread keeper_;  // last: everything above exists before it starts, and until it ended
};

CardInfo info_of(const Card& card) {
  CardInfo info;
  info.name = card.name();
  info.uuid = card.uuid();
  info.memory_bytes = static_cast<std::int64_t>(card.memory_bytes());
  info.major = card.attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  info.minor = card.attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  // A copy reads and writes; memory moves at both edges of its clock (kHz). Newer drivers do not tell the clock.
  constexpr std::int64_t kUsual = 500'000'000'000;
  const std::int64_t clock = card.attribute(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
  const std::int64_t bits = card.attribute(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
  info.copy_bytes_per_second = clock > 0 && bits > 0 ? clock * 1000 * bits / 8 : kUsual;
  for (const auto& other : Card::all()) info.reaches.push_back(card.reaches(*other));
  return info;
}

std::string told(const CardsFound& found) {
  if (found.cards.empty()) return "no CUDA devices: " + found.why_none;
  std::string text = std::to_string(found.cards.size()) + " CUDA device(s):";
  for (const CardInfo& card : found.cards) {
    text += " " + card.name + " (" + base::rounded_bytes(card.memory_bytes) + ", compute capability " +
            std::to_string(card.major) + "." + std::to_string(card.minor) + ")";
  }
  return text;
}

}  // namespace
}  // namespace cuda

const CardsFound& find_cards() {
  static const CardsFound found = [] {
    CardsFound all;
    all.why_none = cuda::Driver::of_process().why_not;
    try {
      for (const auto& card : cuda::Card::all()) all.cards.push_back(cuda::info_of(*card));
      if (all.cards.empty() && all.why_none.empty())
        all.why_none = "the driver shows none (CUDA_VISIBLE_DEVICES?)";
    } catch (const Error& e) {
      all.why_none = e.what();
    }
    base::log(base::LogLevel::info, "cuda", std::nullopt, cuda::told(all));
    return all;
  }();
  return found;
}

std::int64_t free_card_bytes(int card) { return static_cast<std::int64_t>(cuda::card_at(card).free_bytes()); }

namespace {

bool is_of_type(const void* memory, unsigned wanted) {
  const cuda::Driver* driver = cuda::Driver::of_process().driver;
  unsigned type = 0;
  return driver != nullptr &&
         driver->cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                       reinterpret_cast<CUdeviceptr>(memory)) == CUDA_SUCCESS &&
         type == wanted;
}

}  // namespace

bool is_card_memory(const void* memory) { return is_of_type(memory, CU_MEMORYTYPE_DEVICE); }
bool is_pinned_memory(const void* memory) { return is_of_type(memory, CU_MEMORYTYPE_HOST); }

std::shared_ptr<cuda::HostPins> make_host_pins(int card) {
  return std::make_shared<cuda::HostPins>(cuda::card_at(card));
}

std::unique_ptr<Device> make_cuda_device(const CudaDeviceConfig& config) {
  base::check(config.bell != nullptr, "a CUDA device has a doorbell to ring");
  return std::make_unique<cuda::CudaDevice>(config);
}

}  // namespace nuna::device
