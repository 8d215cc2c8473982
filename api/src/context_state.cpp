#include "context_state.hpp"

#include <cstring>
#include <thread>

#include "base/check.hpp"
#include "base/worker_thread.hpp"

namespace nuna::detail {

std::string to_string(CallSite site) {
  if (*site.file == '\0') return {};
  const char* slash = std::strrchr(site.file, '/');
  return std::string(slash != nullptr ? slash + 1 : site.file) + ":" + std::to_string(site.line);
}

std::string_view ContextState::text_of(CallSite site) {
  std::string& text = sites_[{site.file, site.line}];
  if (text.empty()) text = to_string(site);
  return text;
}

Inside::Inside(ContextState& context, const char* what, CallSite site)
    : context_(context), what_(what), site_(site) {
  if (context.ended.load()) {
    throw Error(ErrorCode::invalid_argument,
                where() + ": the Context has ended; keep it alive longer than its buffers and views");
  }
  if (base::on_worker_thread()) {
    throw Error(ErrorCode::concurrent_use,
                where() + ": a kernel cannot use a Context, which would wait for the kernel");
  }
  if (context.runtime().ranks() == 1) {
    context.runtime().turn().lock();
    return;
  }
  if (!context.runtime().callable_here()) {
    throw Error(ErrorCode::concurrent_use,
                where() +
                    ": MPI was initialised for the main thread only: make this call there, or ask for "
                    "MPI_THREAD_MULTIPLE (MPI_Init_thread)");
  }
  if (context.owner_.load() == std::this_thread::get_id()) {  // a call made by one of ours
    outermost_ = false;
    return;
  }
  if (context.busy_.exchange(true)) {
    throw Error(
        ErrorCode::concurrent_use,
        where() +
            ": another thread is inside this Context of several ranks; call it from one thread at a time");
  }
  context.owner_.store(std::this_thread::get_id());
}

Inside::Inside(ContextState& context, const char* what, CallSite site, WithRoom)
    : Inside(context, what, site) {
  context.program().make_room();
}

std::string Inside::where() const {
  const std::string site = to_string(site_);
  return site.empty() ? what_ : what_ + (" at " + site);
}

Inside::~Inside() {
  if (context_.runtime().ranks() == 1) {
    context_.runtime().turn().unlock();
    return;
  }
  if (!outermost_) return;
  context_.owner_.store(std::thread::id());
  context_.busy_.store(false);
}

void Completion::wait() const {
  completion_.wait();
  if (const auto failure = completion_.failure()) std::rethrow_exception(failure);
}

execute::Buffer& BufferState::buffer(const Inside& inside) const {
  if (buffer_ == nullptr) {
    throw Error(ErrorCode::already_released,
                inside.where() + ": the buffer was released before: do not use it afterwards");
  }
  return *buffer_;
}

ViewState::ViewState(std::shared_ptr<ContextState> context, std::shared_ptr<adsm::HostView> view,
                     CallSite site)
    : context_(std::move(context)), view_(std::move(view)), site_(site) {
  box_ = Box{Interval{0, 0}};
  if (view_->elsewhere) return;
  instance_ = context_->views().instance(*view_);
  box_ = view_->bytes ? Box{*view_->bytes} : view_->elements;
}

ViewState::~ViewState() {
  if (context_->ended.load()) return;
  try {
    const Inside inside(*context_, "closing a host view", site_);
    if (view_->open) context_->views().close_quietly(*view_, to_string(site_));
  } catch (const Error& e) {  // another thread is inside: the bytes are not made the newest
    base::stop(e.what());
  }
}

void ViewState::acquire(const Box& box, CallSite site) {
  const Inside inside(*context_, "acquire", site);
  context_->views().acquire(view_, box, to_string(site));
}

void ViewState::release(CallSite site) {
  const Inside inside(*context_, "release", site);
  context_->views().release(*view_, to_string(site));
}

void ViewState::close() {
  const Inside inside(*context_, "closing a host view", site_);
  context_->views().close(*view_, to_string(site_));
}

execute::Buffer& buffer_of(const ContextState& context, const BufferHandle& handle, const Inside& inside) {
  const BufferState& state = *handle.state();
  if (&state.context() != &context) {
    throw Error(ErrorCode::invalid_argument, inside.where() + ": the buffer belongs to another Context");
  }
  return state.buffer(inside);
}

Event launch_internal(ContextState& context, const execute::Launch& launch) {
  context.views().close_for_launch(launch.arguments, launch.site);
  return Event(std::make_shared<Completion>(context.program().launch(launch), context.runtime_ref()));
}

namespace {

void check_inside(const execute::Buffer& buffer, Index offset, Index bytes, const std::string& what) {
  if (bytes > buffer.shape().bytes() - offset) {
    throw Error(ErrorCode::out_of_bounds, what + ": " + std::to_string(bytes) + " bytes from offset " +
                                              std::to_string(offset) + " leave the buffer of " +
                                              std::to_string(buffer.shape().bytes()) + " bytes");
  }
}

}  // namespace

Resolved resolve(ContextState& context, const void* pointer, Index bytes, const std::string& what) {
  if (pointer == nullptr) throw Error(ErrorCode::invalid_argument, what + " is a null pointer");
  const auto found = address::Window::of_process().find(pointer);
  if (!found) {
    if (execute::Buffer* adopted = context.program().find_adopted(pointer)) {
      const Index offset = static_cast<const std::byte*>(pointer) - adopted->instances->adopted()->first;
      check_inside(*adopted, offset, bytes, what);
      return {adopted, offset};
    }
    if (bytes < 2 || !address::Window::of_process().find(static_cast<const char*>(pointer) + bytes - 1))
      return {};
    throw Error(ErrorCode::not_nuna_pointer,
                what + " begins before Nuna's address range and ends inside it: no buffer lies there");
  }
  if (found->owner != &context.runtime()) {
    throw Error(ErrorCode::not_nuna_pointer, what +
                                                 " belongs to a buffer of another Context or rank: copy "
                                                 "through host memory");
  }
  execute::Buffer* buffer = context.program().find(found->offset);
  if (buffer == nullptr) {
    throw Error(ErrorCode::not_nuna_pointer,
                what + " lies in Nuna's address range but in no buffer: was the buffer released?");
  }
  const Index offset = found->offset - buffer->instances->offset();
  check_inside(*buffer, offset, bytes, what);
  return {buffer, offset};
}

}  // namespace nuna::detail
