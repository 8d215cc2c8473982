#pragma once
// Everything that the driver knows: its cards, their contexts, and which handles are alive. Never destroyed, since
// threads of streams may run until the process ends.

#include <cuda.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "memory.hpp"
#include "settings.hpp"
#include "stream.hpp"

namespace standin {

struct Module;
struct Library;
struct Function;

/// The primary context of a card.
struct Context {
  explicit Context(int number);

  const int device;
  std::mutex order;  // held while work is put into streams, so that the default stream orders them all
  std::set<std::shared_ptr<Stream>> streams;
  std::shared_ptr<Stream> default_stream;
  std::atomic<int> retained = 0;
  std::atomic<std::uint64_t> launches = 0;
  std::atomic<CUresult> error = CUDA_SUCCESS;

  CUresult lost() const { return error; }
  /// Only the first error counts.
  void lose(CUresult result);
  /// Puts a task into a stream of this context, with the default stream's rules; returns its end.
  Stream::Point submit(Stream& stream, Stream::Task task);
  void synchronise();
  CUcontext handle() { return reinterpret_cast<CUcontext>(this); }
};

struct Card {
  std::atomic<std::size_t> used_bytes = 0;
  std::unique_ptr<Context> context;
};

/// One recording of an event.
struct Marker {
  Stream::Point end;
  std::int64_t time_ns = 0;  // written before `end`
};

struct Event {
  Context* context = nullptr;
  unsigned flags = 0;
  std::shared_ptr<Marker> marker;  // none before the first recording; guarded by State::mutex
};

/// A handle of physical memory.
struct Handle {
  std::shared_ptr<Block> block;
  int references = 0;
};

struct State {
  Settings settings;
  std::atomic<bool> initialised = false;
  std::mutex mutex;  // guards what follows
  std::vector<std::unique_ptr<Card>> cards;
  std::map<CUstream, std::shared_ptr<Stream>> streams;
  std::map<CUevent, std::shared_ptr<Event>> events;
  std::map<CUmemGenericAllocationHandle, Handle> handles;
  std::map<CUmodule, std::shared_ptr<Module>> modules;
  std::map<CUlibrary, std::shared_ptr<Library>> libraries;
  std::map<const void*, std::shared_ptr<Function>> functions;  // CUfunction and CUkernel
  std::map<std::string, std::uint64_t, std::less<>> counts;
  CUmemGenericAllocationHandle next_handle = 1;

  AddressSpace memory;  // locks itself

  void count(std::string_view name);
};

State& state();

/// What a function needs before it does anything.
enum class Need { kNothing, kDriver, kContext };

/// Counts the call, makes the faults that were asked for, checks what it needs. `function` is the exported name.
CUresult enter(const char* function, Need need);

/// A thread's contexts. It has no destructor: the main thread's is used by what runs at exit, too.
class ContextStack {
 public:
  bool empty() const { return size_ == 0; }
  Context* back() const { return contexts_[size_ - 1]; }
  /// Whether there was room.
  bool push_back(Context* context) {
    if (size_ == contexts_.size()) return false;
    contexts_[size_++] = context;
    return true;
  }
  void pop_back() { --size_; }

 private:
  std::array<Context*, 16> contexts_{};  // few: such storage is scarce in a library that is opened late
  std::size_t size_ = 0;
};
static_assert(std::is_trivially_destructible_v<ContextStack>);

/// The calling thread's contexts.
ContextStack& context_stack();
Context* current_context();

/// While a thread runs a host function of a stream, it may not call the driver.
class HostFunctionScope {
 public:
  HostFunctionScope();
  ~HostFunctionScope();
  HostFunctionScope(const HostFunctionScope&) = delete;
  HostFunctionScope& operator=(const HostFunctionScope&) = delete;
};

/// Null unless the handle is alive.
Context* context_of(CUcontext handle);
std::shared_ptr<Stream> stream_of(CUstream handle);
std::shared_ptr<Event> event_of(CUevent handle);
bool valid_device(CUdevice device);

/// Is it a driver function, by its name without a version?
bool knows_function(std::string_view name);
/// Complains on stderr and is empty if the text is wrong or names a function that does not exist.
std::optional<Settings> checked_settings(std::string_view text);

}  // namespace standin

#define STANDIN_API extern "C" __attribute__((visibility("default"))) CUresult CUDAAPI
#define STANDIN_ENTER(need)                                                                                \
  if (const CUresult entered = ::standin::enter(__func__, ::standin::Need::need); entered != CUDA_SUCCESS) \
  return entered
