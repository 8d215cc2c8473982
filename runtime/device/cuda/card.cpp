#include "device/cuda/card.hpp"

#include <cstring>
#include <utility>

#include "device/cuda/builtin.hpp"

namespace nuna::device::cuda {

Card::Card(const Driver& driver, int ordinal) : driver_(driver), ordinal_(ordinal) {
  const std::string about = "device " + std::to_string(ordinal);
  driver_.check(driver_.cuDeviceGet(&handle_, ordinal), "cuDeviceGet", about);
  std::array<char, 256> name{};
  driver_.check(driver_.cuDeviceGetName(name.data(), static_cast<int>(name.size()), handle_),
                "cuDeviceGetName", about);
  name_ = name.data();
  CUuuid uuid{};
  driver_.check(driver_.cuDeviceGetUuid(&uuid, handle_), "cuDeviceGetUuid", about);
  std::memcpy(uuid_.data(), uuid.bytes, uuid_.size());
  driver_.check(driver_.cuDeviceTotalMem(&memory_bytes_, handle_), "cuDeviceTotalMem", about);
}

const std::vector<std::unique_ptr<Card>>& Card::all() {
  static const auto* const cards = [] {
    auto* found = new std::vector<std::unique_ptr<Card>>;
    const Driver* driver = Driver::of_process().driver;
    int count = 0;
    if (driver == nullptr || driver->cuDeviceGetCount(&count) != CUDA_SUCCESS) return found;
    for (int i = 0; i < count; ++i) found->push_back(std::make_unique<Card>(*driver, i));
    return found;
  }();
  return *cards;
}

int Card::attribute(CUdevice_attribute which) const {
  int value = 0;
  return driver_.cuDeviceGetAttribute(&value, which, handle_) == CUDA_SUCCESS ? value : 0;
}

bool Card::reaches(const Card& other) const {
  if (this == &other) return true;
  int can = 0;
  return driver_.cuDeviceCanAccessPeer(&can, handle_, other.handle_) == CUDA_SUCCESS && can != 0;
}

CUcontext Card::context() {
  if (CUcontext made = context_.load(std::memory_order_acquire)) return made;
  const base::MutexLock lock(mutex_);
  if (CUcontext made = context_.load(std::memory_order_relaxed)) return made;
  CUcontext made = nullptr;
  driver_.check(driver_.cuDevicePrimaryCtxRetain(&made, handle_), "cuDevicePrimaryCtxRetain",
                name_ + ", device " + std::to_string(ordinal_));
  context_.store(made, std::memory_order_release);
  return made;
}

Card::Current::Current(Card& card) : card_(card) {
  card.driver_.check(card.driver_.cuCtxPushCurrent(card.context()), "cuCtxPushCurrent", card.name_);
}

Card::Current::Current(Card& card, std::nothrow_t) noexcept
    : card_(card),
      pushed_(card.driver_.cuCtxPushCurrent(card.context_.load(std::memory_order_acquire)) == CUDA_SUCCESS) {}

Card::Current::~Current() {
  if (!pushed_) return;
  CUcontext popped = nullptr;
  card_.driver_.cuCtxPopCurrent(&popped);
}

std::size_t Card::free_bytes() {
  const Current current(*this);
  std::size_t free = 0;
  std::size_t whole = 0;
  driver_.check(driver_.cuMemGetInfo(&free, &whole), "cuMemGetInfo", name_);
  return free;
}

CUfunction Card::function(const detail::CudaKernel& kernel, std::string_view name) {
  const base::MutexLock lock(mutex_);
  const auto known = functions_.find(&kernel);
  if (known != functions_.end()) return known->second;
  CUfunction function = nullptr;
  if (kernel.builtin != nullptr) {
    function = find_builtin(kernel.builtin);
  } else {
    void* found = nullptr;
    if (const int error = kernel.find(&found); error != 0 || found == nullptr) {
      const auto broken = static_cast<CUresult>(error);  // the runtime numbers these as the driver does
      if (breaks_context(broken)) throw driver_.failure(broken, "cudaGetFuncBySymbol", name);
      const char* why = kernel.error_text != nullptr ? kernel.error_text(error) : "unknown";
      throw Error(ErrorCode::unsupported,
                  "kernel '" + std::string(name) + "' has no code for " + name_ + " (" + why +
                      "): compile it for that GPU's architecture (CMAKE_CUDA_ARCHITECTURES)");
    }
    function = static_cast<CUfunction>(found);
  }
  functions_.emplace(&kernel, function);
  return function;
}

CUfunction Card::builtin(const char* name) {
  const base::MutexLock lock(mutex_);
  return find_builtin(name);
}

CUfunction Card::find_builtin(const char* name) {
  if (const auto known = builtins_.find(name); known != builtins_.end()) return known->second;
  if (module_ == nullptr)
    driver_.check(driver_.cuModuleLoadData(&module_, builtin_image()), "cuModuleLoadData",
                  "Nuna's own kernels on " + name_);
  CUfunction function = nullptr;
  driver_.check(driver_.cuModuleGetFunction(&function, module_, name), "cuModuleGetFunction", name);
  builtins_.emplace(name, function);
  return function;
}

std::exception_ptr Card::lost() const {
  if (!is_lost()) return nullptr;
  const base::MutexLock lock(mutex_);
  return failure_;
}

std::string Card::running() {
  const base::MutexLock lock(watchers_mutex_);
  std::string all;
  for (const auto& [who, tell] : watchers_) {
    const std::string what = tell();
    if (!what.empty()) all += (all.empty() ? "" : ", ") + what;
  }
  return all;
}

std::exception_ptr Card::lose(const Error& failure, const std::string& device) {
  const std::string running = this->running();
  const base::MutexLock lock(mutex_);
  if (failure_ != nullptr) return failure_;
  failure_ = std::make_exception_ptr(Error(
      ErrorCode::device_lost, "device " + device + " broke while its GPU ran " +
                                  (running.empty() ? "nothing of Nuna's" : running) + ": " + failure.what() +
                                  " (compute-sanitizer finds kernels that leave their arrays)"));
  lost_.store(true, std::memory_order_release);
  return failure_;
}

void Card::watch(const void* who, std::function<std::string()> running) {
  const base::MutexLock lock(watchers_mutex_);
  watchers_[who] = std::move(running);
}

void Card::unwatch(const void* who) {
  const base::MutexLock lock(watchers_mutex_);
  watchers_.erase(who);
}

}  // namespace nuna::device::cuda
