#include "device.hpp"

#include <sched.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <mutex>
#include <string>

#include "call.hpp"

namespace nuna::cudart {
namespace {

// The object is never destroyed: the program's own static objects may call the library at any time.
std::atomic<Device*> the_device{nullptr};
std::atomic<bool> has_ended{false};

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

const DeviceFacts& DeviceFacts::here() {
  static const DeviceFacts only = [] {
    DeviceFacts facts;
    facts.cores = allowed_cores();
    const char* threads = std::getenv("NUNA_THREADS");
    const int asked = threads != nullptr ? std::atoi(threads) : 0;
    facts.threads = asked > 0 ? std::min(asked, 4096) : facts.cores;
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
  options.kind = DeviceKind::host;
  options.devices = 1;
  options.threads_per_device = facts.threads;
  options.memory_limit_bytes = facts.memory_bytes;
  return options;
}

// Called by each thread of the host device for its own block of the launch.
struct Gathered {
  Lane* lane;
  std::shared_ptr<void> crew;
  static void run(const void* self, const Box& blocks, const detail::InstanceView*) {
    const auto& gathered = *static_cast<const Gathered*>(self);
    for (Index part = blocks[0].begin; part < blocks[0].end; ++part)
      gathered.lane->attend(*static_cast<Crew*>(gathered.crew.get()), static_cast<int>(part));
  }
};

}  // namespace

Device::Device()
    : lane_(DeviceFacts::here().threads),
      context_(Context::self(options_of(DeviceFacts::here()))),
      memory_(*context_, DeviceFacts::here().memory_bytes) {
  lane_.set_gathering([this](std::shared_ptr<void> crew) { gather(std::move(crew)); });
}

void Device::gather(std::shared_ptr<void> crew) {
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
  request.closure = std::make_shared<const Gathered>(Gathered{&lane_, std::move(crew)});
  detail::launch(context_->state(), request);
}

Device& Device::get() {
  require(!ended(), cudaErrorCudartUnloading);
  if (Device* device = the_device.load(std::memory_order_acquire)) return *device;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (Device* device = the_device.load()) return *device;
  auto made = std::make_unique<Device>();
  std::atexit([] {
    if (Device* device = if_there()) device->end();
  });
  the_device.store(made.release(), std::memory_order_release);
  return *the_device.load();
}

Device* Device::if_there() noexcept { return ended() ? nullptr : the_device.load(std::memory_order_acquire); }
bool Device::ended() noexcept { return has_ended.load(std::memory_order_acquire); }

void Device::synchronize() {
  lane_.wait(lane_.last());
  require(sticky_error() == cudaSuccess, sticky_error());
}

// At exit. Static objects of the program that are older than the device are destroyed later, and find it gone.
void Device::end() {
  if (!InHostFunction::here()) lane_.wait(lane_.last());
  if (has_ended.exchange(true) || InHostFunction::here())
    return;  // exit() inside the lane: nothing can be waited for
  memory_.clear();
  context_.reset();
}

}  // namespace nuna::cudart
