// The driver's state and the door that every function goes through.

#include "state.hpp"

#include <cstdio>
#include <cstdlib>
#include <thread>

namespace standin {
namespace {

Settings settings_of_environment() {
  const char* text = std::getenv("NUNA_TEST_CUDA");
  if (const auto settings = checked_settings(text == nullptr ? "" : text)) return *settings;
  std::_Exit(2);
}

State* make_state() {
  auto* made = new State;
  made->settings = settings_of_environment();
  for (int device = 0; device < made->settings.devices; ++device) {
    made->cards.push_back(std::make_unique<Card>());
    made->cards.back()->context = std::make_unique<Context>(device);
  }
  return made;
}

/// "cuMemAlloc" of "cuMemAlloc_v2".
std::string_view base_name(std::string_view name) {
  if (name.size() > 3 && name[name.size() - 3] == '_' && name[name.size() - 2] == 'v') name.remove_suffix(3);
  return name;
}

// How much longer the task takes that this call puts into a stream.
thread_local std::chrono::microseconds slow_task{};

thread_local bool in_host_function = false;

bool works_in_stream(std::string_view name) {
  for (const std::string_view each : {"cuMemcpy", "cuMemset", "cuLaunch", "cuEventRecord",
                                      "cuStreamWaitEvent", "cuStreamWriteValue", "cuStreamWaitValue"})
    if (name.starts_with(each)) return true;
  return false;
}

CUresult injected_fault(std::string_view name) {
  State& s = state();
  std::uint64_t call = 0;
  {
    std::lock_guard lock(s.mutex);
    call = ++s.counts.try_emplace(std::string(name), 0).first->second;
  }
  slow_task = {};
  if (const auto slow = s.settings.slowness.find(name); slow != s.settings.slowness.end()) {
    if (works_in_stream(name))
      slow_task = slow->second;
    else
      std::this_thread::sleep_for(slow->second);
  }
  const auto [first, last] = s.settings.faults.equal_range(name);
  for (auto each = first; each != last; ++each)
    if (each->second.always || each->second.call == call) return each->second.error;
  return CUDA_SUCCESS;
}

}  // namespace

State& state() {
  static State* const the_state = make_state();
  return *the_state;
}

std::optional<Settings> checked_settings(std::string_view text) {
  std::string complaint;
  auto settings = parse_settings(text, complaint);
  if (settings) {
    for (const auto& [name, fault] : settings->faults)
      if (!knows_function(name)) complaint = "no function " + name;
    for (const auto& [name, slow] : settings->slowness)
      if (!knows_function(name)) complaint = "no function " + name;
  }
  if (complaint.empty()) return settings;
  std::fprintf(stderr, "cuda_standin: NUNA_TEST_CUDA: %s\n", complaint.c_str());
  return std::nullopt;
}

void State::count(std::string_view name) {
  std::lock_guard lock(mutex);
  ++counts.try_emplace(std::string(name), 0).first->second;
}

CUresult enter(const char* function, Need need) {
  if (const CUresult fault = injected_fault(base_name(function)); fault != CUDA_SUCCESS) return fault;
  if (in_host_function) return CUDA_ERROR_NOT_PERMITTED;
  if (need == Need::kNothing) return CUDA_SUCCESS;
  if (!state().initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (need == Need::kDriver) return CUDA_SUCCESS;
  Context* context = current_context();
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (context->lost() != CUDA_SUCCESS) return context->lost();
  return context->retained > 0 ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

HostFunctionScope::HostFunctionScope() { in_host_function = true; }
HostFunctionScope::~HostFunctionScope() { in_host_function = false; }

ContextStack& context_stack() {
  thread_local ContextStack stack;
  return stack;
}

Context* current_context() { return context_stack().empty() ? nullptr : context_stack().back(); }

Context* context_of(CUcontext handle) {
  for (const auto& card : state().cards)
    if (card->context->handle() == handle && card->context->retained > 0) return card->context.get();
  return nullptr;
}

std::shared_ptr<Stream> stream_of(CUstream handle) {
  // Of the streams that need no creation, the thread's own is taken for the default stream: more order is allowed.
  if (handle == nullptr || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD) {
    Context* context = current_context();
    return context == nullptr ? nullptr : context->default_stream;
  }
  State& s = state();
  std::lock_guard lock(s.mutex);
  const auto found = s.streams.find(handle);
  return found == s.streams.end() ? nullptr : found->second;
}

std::shared_ptr<Event> event_of(CUevent handle) {
  State& s = state();
  std::lock_guard lock(s.mutex);
  const auto found = s.events.find(handle);
  return found == s.events.end() ? nullptr : found->second;
}

bool valid_device(CUdevice device) { return device >= 0 && device < state().settings.devices; }

Context::Context(int number) : device(number) {
  default_stream = std::make_shared<Stream>(*this, 0u, 0);
  streams.insert(default_stream);
}

void Context::lose(CUresult result) {
  CUresult none = CUDA_SUCCESS;
  error.compare_exchange_strong(none, result);
}

Stream::Point Context::submit(Stream& stream, Stream::Task task) {
  if (slow_task.count() > 0)
    task = [slow = slow_task, inner = std::move(task)] {
      std::this_thread::sleep_for(slow);
      return inner();
    };
  std::lock_guard lock(order);
  std::vector<Stream::Point> after;
  const bool is_default = &stream == default_stream.get();
  if (stream.blocking())
    for (const auto& other : streams) {
      if (other.get() == &stream || !other->blocking()) continue;
      if (!is_default && other != default_stream) continue;
      if (auto point = other->last(); !point.done()) after.push_back(std::move(point));
    }
  return stream.submit(std::move(task), std::move(after));
}

void Context::synchronise() {
  std::vector<Stream::Point> points;
  {
    std::lock_guard lock(order);
    for (const auto& each : streams) points.push_back(each->last());
  }
  for (const auto& point : points) point.wait();
}

}  // namespace standin
