#pragma once
// ContextState, BufferState, ViewState: what the public handles point to, and who may be inside at once.

#include <absl/container/node_hash_map.h>

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "nuna/buffer.hpp"
#include "nuna/context.hpp"
#include "nuna/error.hpp"
#include "nuna/event.hpp"
#include "nuna/host_view.hpp"
#include "rank_runtime.hpp"

namespace nuna::detail {

/// "heat.cpp:31"; empty where the call site is not known.
std::string to_string(CallSite site);

class ContextState {
 public:
  explicit ContextState(std::shared_ptr<RankRuntime> runtime) : runtime_(std::move(runtime)) {}

  RankRuntime& runtime() { return *runtime_; }
  const std::shared_ptr<RankRuntime>& runtime_ref() const { return runtime_; }
  execute::Program& program() { return runtime_->program(); }
  adsm::HostViews& views() { return runtime_->views(); }

  /// to_string(site), for as long as the Context. By the thread that is inside.
  std::string_view text_of(CallSite site);

  /// Whether the Context has ended; its buffers must not be used any more.
  std::atomic<bool> ended{false};
  int finalizing = 0;  ///< what must be forgotten at its end (cluster/mpi/session.hpp)

 private:
  friend class Inside;
  std::shared_ptr<RankRuntime> runtime_;
  absl::node_hash_map<std::pair<const char*, int>, std::string> sites_;
  std::atomic<bool> busy_{false};
  std::atomic<std::thread::id> owner_{};
};

/// For calls that launch.
struct WithRoom {};
inline constexpr WithRoom kWithRoom{};

/// While one is alive, its thread is inside the Context: threads take turns in a self Context, and give theirs up while they
/// wait for long; a second one in a replicated Context is refused (ErrorCode::concurrent_use), because the order of calls
/// would differ by rank.
class Inside {
 public:
  Inside(ContextState& context, const char* what, CallSite site);
  /// The same, once not too many launches are in flight.
  Inside(ContextState& context, const char* what, CallSite site, WithRoom);
  ~Inside();
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

  /// "copy at heat.cpp:31", for messages.
  std::string where() const;

 private:
  ContextState& context_;
  const char* what_;
  CallSite site_;
  bool outermost_ = true;
};

class Completion {
 public:
  Completion(execute::Completion completion, std::shared_ptr<RankRuntime> keep)
      : completion_(std::move(completion)), keep_(std::move(keep)) {}
  void wait() const;
  bool done() const { return completion_.done(); }

 private:
  execute::Completion completion_;
  std::shared_ptr<RankRuntime> keep_;  // owner of the timelines
};

class BufferState {
 public:
  BufferState(std::shared_ptr<ContextState> context, execute::Buffer& buffer)
      : context_(std::move(context)), buffer_(&buffer) {}

  ContextState& context() const { return *context_; }
  const std::shared_ptr<ContextState>& context_ref() const { return context_; }
  /// Throws Error (already_released), which names the call.
  execute::Buffer& buffer(const Inside& inside) const;
  bool released() const { return buffer_ == nullptr; }
  void forget() { buffer_ = nullptr; }

  Extents extents;
  Index element_bytes = 0;
  std::string site;                     ///< where it was created
  std::shared_ptr<adsm::HostView> all;  ///< of data()
  /// Of two threads that call data() the second finds the first's view. Taken before the Context is entered.
  std::mutex opening_all;

 private:
  std::shared_ptr<ContextState> context_;
  execute::Buffer* buffer_;
};

class ViewState {
 public:
  ViewState(std::shared_ptr<ContextState> context, std::shared_ptr<adsm::HostView> view, CallSite site);
  ~ViewState();  ///< closes; a failure is kept for the next call that touches the buffer
  ViewState(const ViewState&) = delete;
  ViewState& operator=(const ViewState&) = delete;

  void acquire(const Box& box, CallSite site);
  void release(CallSite site);
  void close();
  const InstanceView& instance() const { return instance_; }
  const Box& box() const { return box_; }

 private:
  std::shared_ptr<ContextState> context_;
  std::shared_ptr<adsm::HostView> view_;
  CallSite site_;
  InstanceView instance_;
  Box box_;
};

/// The buffer behind a handle. Throws Error (already_released; invalid_argument when it belongs to another Context).
execute::Buffer& buffer_of(const ContextState& context, const BufferHandle& handle, const Inside& inside);

/// Launches with a function of Nuna's own (copies, fills).
Event launch_internal(ContextState& context, const execute::Launch& launch);

/// The parts of a message that every misuse of a pointer shares.
struct Resolved {
  execute::Buffer* buffer = nullptr;  ///< null: host memory that is not Nuna's
  Index offset = 0;                   ///< dense byte offset in the buffer
};
/// Where a pointer points; `what` names the call and the pointer's part in it, for messages. Throws Error
/// (invalid_argument) for a null pointer, not_nuna_pointer for addresses inside Nuna's window that belong to no buffer of
/// this Context, and out_of_bounds when `bytes` behind it leave the buffer.
Resolved resolve(ContextState& context, const void* pointer, Index bytes, const std::string& what);

}  // namespace nuna::detail
