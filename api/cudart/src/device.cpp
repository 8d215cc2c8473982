#include "device.hpp"

#include <sched.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <mutex>
#include <string>
#include <string_view>

#include "audit.hpp"
#include "call.hpp"
#include "guarded_run.hpp"
#include "profile.hpp"
#include "ranks.hpp"

namespace nuna::cudart {
namespace {

// The object is never destroyed: the program's own static objects may call the library at any time.
std::atomic<Device*> the_device{nullptr};
std::atomic<bool> has_ended{false};

constexpr int kMostDevices = 63;

bool wants_stats() {
  const char* const wanted = std::getenv("NUNA_STATS");
  return wanted != nullptr && std::strcmp(wanted, "0") != 0;
}

/// GPUs for those who ask: what nunacc makes has run on none yet. What is no kind Nuna refuses.
DeviceKind kind_asked_for() {
  const char* const asked = std::getenv("NUNA_DEVICE");
  const std::string kind = asked != nullptr ? asked : "";
  if (kind == "cuda") return DeviceKind::cuda;
  return kind.empty() || kind == "auto" || kind == "host" ? DeviceKind::host : DeviceKind::automatic;
}

int allowed_cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return std::max(1, CPU_COUNT(&allowed));
  return std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
}

// Of a whole number with a unit, "512M"; 0 where Nuna will refuse it.
std::size_t bytes_of(const char* text) {
  char* end = nullptr;
  const double number = std::strtod(text, &end);
  while (*end == ' ') ++end;
  const std::string units = "KMGT";
  const auto unit = units.find(static_cast<char>(std::toupper(static_cast<unsigned char>(*end))));
  const double factor =
      *end == '\0' || unit == std::string::npos ? 1 : static_cast<double>(std::size_t{1024} << (10 * unit));
  return number > 0 ? static_cast<std::size_t>(number * factor) : 0;
}

std::size_t machine_bytes() {
  struct sysinfo info{};
  std::size_t bytes = std::numeric_limits<std::size_t>::max();
  if (sysinfo(&info) == 0) bytes = std::size_t{info.totalram} * info.mem_unit;
  std::size_t limit = 0;
  if (std::ifstream("/sys/fs/cgroup/memory.max") >> limit && limit > 0) bytes = std::min(bytes, limit);
  return bytes;
}

}  // namespace

const DeviceFacts& DeviceFacts::told() { return Ranks::here().ranks == 1 ? here() : Device::get().facts(); }

const DeviceFacts& DeviceFacts::here() {
  static const DeviceFacts only = [] {
    DeviceFacts facts;
    facts.cores = allowed_cores();
    const char* threads = std::getenv("NUNA_THREADS");
    const int asked = threads != nullptr ? std::atoi(threads) : 0;
    facts.kind = kind_asked_for();
    const char* devices = std::getenv("NUNA_DEVICES");
    facts.devices = std::clamp(devices != nullptr ? std::atoi(devices) : 1, 1, kMostDevices);
    facts.asks_for_devices = devices != nullptr;
    facts.threads = asked > 0 ? std::min(asked, 4096) * facts.devices : std::max(facts.cores, facts.devices);
    const char* memory = std::getenv("NUNA_MEMORY_LIMIT");
    const std::size_t limit = memory != nullptr ? bytes_of(memory) : 0;
    facts.memory_bytes = limit > 0 ? limit : machine_bytes();
    return facts;
  }();
  return only;
}

namespace {

Options options_of(const DeviceFacts& facts) {
  Options options;
  options.kind = facts.kind;
  if (facts.kind == DeviceKind::cuda) {  // their memory is their own
    if (facts.asks_for_devices) options.devices = facts.devices;
    return options;
  }
  options.devices = facts.devices;
  options.threads_per_device = facts.threads / facts.devices;
  options.memory_limit_bytes = facts.memory_bytes;
  options.closed_memory = true;
  return options;
}

/// Whether the program's device is the host place itself, if there is one rank.
bool is_one_host(const DeviceFacts& facts) { return facts.devices == 1 && facts.kind != DeviceKind::cuda; }

// With several devices those that do the host's part.
int lane_threads(const DeviceFacts& facts) {
  return is_one_host(facts) ? facts.threads : std::min(facts.threads, facts.cores);
}

Context made_context(const DeviceFacts& facts) {
  Context context = Context::world(0, nullptr, options_of(facts));
  if (facts.kind == DeviceKind::cuda && context.ranks() > 1) {
    throw Error(
        ErrorCode::unsupported,
        "CUDA programs run on GPUs (NUNA_DEVICE=cuda) in one process only: leave mpirun out, or use the CPU");
  }
  return context;
}

// Called by each thread of the host device for its own block of the launch.
struct Gathered {
  Lane* lane;
  std::shared_ptr<Crew> crew;
  static void run(const void* self, const Box& blocks, const detail::InstanceView*) {
    const auto& gathered = *static_cast<const Gathered*>(self);
    for (Index part = blocks[0].begin; part < blocks[0].end; ++part)
      gathered.lane->attend(*gathered.crew, static_cast<int>(part));
  }
};

}  // namespace

Device::Device()
    : lane_(lane_threads(DeviceFacts::here())),
      context_(made_context(DeviceFacts::here())),
      memory_(*context_, DeviceFacts::here().memory_bytes,
              !is_one_host(DeviceFacts::here()) || context_->ranks() > 1) {
  const DeviceFacts& facts = DeviceFacts::here();
  if (is_one_host(facts) && context_->ranks() == 1) {
    profile_ = Profile::if_on(nullptr, memory_);
    lane_.set_gathering([this](const std::shared_ptr<Crew>& crew) { gather(crew); });
    return;
  }
  spread_.emplace(*context_, memory_, facts.kind == DeviceKind::cuda, wants_stats());
  profile_ = Profile::if_on(&*spread_, memory_);
  if (replicated()) become_replicated();
  lane_.set_ahead(&*spread_);
  team_.emplace(lane_.threads(), [this](Crew& crew, int part) { lane_.attend(crew, part); });
  lane_.set_gathering([this](const std::shared_ptr<Crew>& crew) { team_->gather(crew); });
}

Device::~Device() = default;

namespace {

/// Messages beside those of the device: a Context whose ranks only tell each other bytes.
Turns::Exchange connect_ranks() {
  Options options;
  options.kind = DeviceKind::host;
  options.devices = options.threads_per_device = 1;
  options.memory_limit_bytes = std::size_t{64} << 20;
  auto context = std::make_shared<Context>(Context::world(0, nullptr, options));
  return [context](std::span<const std::byte> bytes) {
    return detail::gather(context->state(), bytes.data(), bytes.size(), {"cuda threads", 0});
  };
}

class PartAction final : public Action {
 public:
  void run(Crew&) const override { set_sticky_error(cudaErrorUnknown); }
  std::string name() const override { return "an end"; }
  bool always() const override { return true; }
};

}  // namespace

namespace {

/// As long as Nuna waits for a rank: NUNA_STALL, which Nuna has accepted, twelve times.
std::chrono::nanoseconds patience() {
  const char* const text = std::getenv("NUNA_STALL");
  char* unit = nullptr;
  double seconds = text != nullptr ? std::strtod(text, &unit) : 5;
  while (unit != nullptr && *unit == ' ') ++unit;
  constexpr std::array<std::pair<std::string_view, double>, 4> kUnits{
      {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"min", 60}}};
  for (const auto& [name, factor] : kUnits) {
    if (unit != nullptr && std::string_view(unit).starts_with(name)) seconds *= factor;
  }
  return std::chrono::nanoseconds(static_cast<std::int64_t>(12e9 * seconds));
}

}  // namespace

void Device::become_replicated() {
  facts_.threads = static_cast<int>(spread_->agreed(facts_.threads));
  facts_.memory_bytes = static_cast<std::size_t>(spread_->agreed(static_cast<double>(facts_.memory_bytes)));
  Turns::Parts parts;
  parts.rank = context_->rank();
  parts.connect = &connect_ranks;
  parts.patience = patience();
  parts.part = [this](const std::string& why) {
    // Threads that have seen a kernel's error end as they like.
    if (sticky_error() == cudaSuccess) std::fprintf(stderr, "nuna: %s\n", why.c_str());
    lane_.wait(lane_.push(std::make_shared<PartAction>()));
  };
  turns_.emplace(std::move(parts));
  lane_.set_turns(&*turns_);
  memory_.set_begin_change([this](const char* call, std::size_t bytes) {
    auto turn = turns_->take([=] { return call + (" of " + std::to_string(bytes)) + " bytes"; });
    lane_.wait(lane_.last());
    return turn;
  });
}

void Device::gather(const std::shared_ptr<Crew>& crew) {
  const detail::LaunchName name("cuda");
  const Domain domain({static_cast<Index>(lane_.threads())});
  const Extents block({1});
  detail::LaunchRequest request;
  request.name = &name;
  request.domain = &domain;
  request.device = 0;
  request.block = &block;
  request.kernel_block = &block;
  request.code.run = &Gathered::run;
  request.code.form = detail::Form::blocks;
  request.closure = std::make_shared<const Gathered>(Gathered{&lane_, crew});
  detail::launch(context_->state(), request);
}

Device& Device::get() {
  require(!ended(), cudaErrorCudartUnloading);
  if (Device* device = the_device.load(std::memory_order_acquire)) return *device;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (Device* device = the_device.load()) return *device;
  const InLibrary here;
  watch_faults();
  auto made = std::make_unique<Device>();
  std::atexit([] {
    if (Device* device = if_there()) device->end();
  });
  the_device.store(made.release(), std::memory_order_release);
  return *the_device.load();
}

Device* Device::if_there() noexcept { return ended() ? nullptr : the_device.load(std::memory_order_acquire); }
bool Device::ended() noexcept { return has_ended.load(std::memory_order_acquire); }

namespace {

/// Something that all ranks do at the same place of the lane's order.
class Together final : public Action {
 public:
  Together(const char* name, std::function<void()> work) : name_(name), work_(std::move(work)) {}
  void run(Crew&) const override { work_(); }
  std::string name() const override { return name_; }
  bool always() const override { return true; }

 private:
  const char* const name_;
  const std::function<void()> work_;
};

}  // namespace

void Device::wait(Ticket ticket) {
  lane_.wait(ticket);
  if (replicated())
    lane_.wait(lane_.push(std::make_shared<Together>("a wait", [this] {
      spread_->agree_on_errors();
      memory_.open_managed();
    })));
}

double Device::agreed(double value) {
  if (!replicated()) return value;
  lane_.wait(lane_.push(std::make_shared<Together>("a question", [&] { value = spread_->agreed(value); })));
  return value;
}

void Device::synchronize() {
  wait(lane_.last());
  require(sticky_error() == cudaSuccess, sticky_error());
}

void Device::agree_on_failures() {
  Device& device = get();
  if (device.replicated()) device.spread_->agree_on_errors();
}

void Device::let_end() noexcept {
  if (Device* const device = ended() ? nullptr : if_there()) device->lane_.wait(device->lane_.last());
}

// At exit. Static objects of the program that are older than the device are destroyed later, and find it gone.
void Device::end() {
  if (turns_ && !InHostFunction::here()) turns_->end();
  if (!InHostFunction::here()) lane_.wait(lane_.last());
  if (has_ended.exchange(true) || InHostFunction::here())
    return;  // exit() inside the lane: nothing can be waited for
  turns_.reset();
  team_.reset();
  if (wants_stats()) {
    const std::string counted = context_->stats();  // an object of JSON
    std::fprintf(stderr, "nuna: stats {\"sharing_cpu_ns\":%llu,%s\n",
                 static_cast<unsigned long long>(spread_ ? spread_->cpu_ns() : 0), counted.c_str() + 1);
  }
  memory_.clear();
  if (profile_ != nullptr) profile_->report();
  profile_.reset();
  spread_.reset();
  context_.reset();
  Audit::report();
}

}  // namespace nuna::cudart
