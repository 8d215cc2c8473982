#include "nuna/buffer.hpp"

#include <algorithm>
#include <exception>
#include <limits>
#include <optional>

#include "base/check.hpp"
#include "base/log.hpp"
#include "context_state.hpp"

namespace nuna {
inline namespace v0 {
namespace detail {

namespace {

base::Shape checked_shape(const Extents& extents, int dims, Index element_bytes, CallSite site) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorCode::invalid_argument, "buffer at " + to_string(site) + ": " + why);
  };
  if (extents.dims != dims) {
    refuse(std::to_string(extents.dims) + " sizes for " + std::to_string(dims) + " dimensions");
  }
  Index bytes = element_bytes;
  for (int a = 0; a < dims; ++a) {
    if (extents[a] < 1) {
      refuse("size " + std::to_string(extents[a]) + " along axis " + std::to_string(a) +
             ": sizes are at least 1");
    }
    if (extents[a] > std::numeric_limits<Index>::max() / bytes) refuse("more than 2^63 bytes");
    bytes *= extents[a];
  }
  return {extents, element_bytes};
}

adsm::Mode mode_of(Access access) {
  switch (access) {
    case Access::read:
      return adsm::Mode::read;
    case Access::write:
      return adsm::Mode::write;
    case Access::read_write:
      return adsm::Mode::read_write;
  }
  throw Error(ErrorCode::invalid_argument, "a host view reads, writes, or both");
}

// The place of memory that the program has.
base::PlaceId place_of(ContextState& context, void* memory, Index element_bytes, CallSite site) {
  const auto refuse = [&](ErrorCode code, const std::string& why) {
    throw Error(code, "Buffer::adopt at " + to_string(site) + ": " + why);
  };
  if (memory == nullptr) refuse(ErrorCode::invalid_argument, "the memory is a null pointer");
  // The largest power of two that divides the size is what alignment an element can have.
  const auto alignment = static_cast<std::uintptr_t>(std::min<Index>(element_bytes & -element_bytes, 16));
  if (reinterpret_cast<std::uintptr_t>(memory) % alignment != 0)
    refuse(ErrorCode::invalid_argument, "the memory is not aligned as its elements are");
  if (address::Window::of_process().find(memory))
    refuse(ErrorCode::not_nuna_pointer, "the memory is Nuna's: adopt what the program has got elsewhere");
  if (context.program().find_adopted(memory) != nullptr)
    refuse(ErrorCode::not_nuna_pointer, "the memory is another buffer's already");
  const execute::Places& places = context.program().places();
  for (int p = places.count() - 1; p >= 0; --p) {
    if (p != base::kHostPlace.value && places.at({p}).holds(memory)) return {p};
  }
  if (!context.runtime().is_host_memory(memory))
    refuse(ErrorCode::invalid_argument, "the memory is on a GPU that no device of this Context is on");
  return base::kHostPlace;
}

// A launch that needs the whole buffer on every device, and does nothing.
void bring_to_devices(ContextState& context, execute::Buffer& buffer, const std::string& site) {
  const int parts = context.program().config().team.parts();
  execute::Launch launch;
  launch.name = "give back";
  launch.site = site;
  launch.arguments.shape.domain = Domain{Index{parts}};
  launch.code.form = Form::parts;
  launch.code.part = [](const void*, const Box&, const InstanceView*, const PartPlace&) {};
  launch.arguments.add(buffer, whole(), true, false, false);
  launch_internal(context, launch).wait();
}

void give_back_adopted(ContextState& context, execute::Buffer& buffer, CallSite site) {
  const auto& memory = buffer.instances->adopted();
  if (!memory) return;
  if (memory->place != base::kHostPlace) {
    bring_to_devices(context, buffer, to_string(site));
    context.program().fence(buffer);
    return;
  }
  const auto view =
      context.views().open(buffer, Box(buffer.shape().extents), adsm::Mode::read, to_string(site));
  context.views().close(*view, to_string(site));
}

void end_buffer(ContextState& context, execute::Buffer& buffer, const std::string& site) {
  const std::optional<execute::Adopted> memory = buffer.instances->adopted();
  context.views().forget(buffer);
  context.program().destroy(buffer, site);
  if (memory && memory->place == base::kHostPlace) context.runtime().leave_host_memory(memory->first);
}

// Gives the buffer back; from a destructor, so it must not throw.
void release_quietly(const std::shared_ptr<BufferState>& state) noexcept {
  if (state == nullptr || state->released()) return;
  ContextState& context = state->context();
  if (context.ended.load()) {
    base::stop("the buffer created at " + std::string(state->site) +
               " outlived its Context: destroy the buffers first");
  }
  try {
    const Inside inside(context, "releasing a buffer", {});
    execute::Buffer& buffer = state->buffer(inside);
    if (buffer.instances->adopted() && std::uncaught_exceptions() == 0) {
      try {
        give_back_adopted(context, buffer, {});
      } catch (const std::exception& e) {
        base::log(base::LogLevel::error, "buffer", context.runtime().rank(),
                  "adopted memory does not hold the newest contents: " + std::string(e.what()));
      }
    }
    state->forget();
    end_buffer(context, buffer, "its destructor");
  } catch (const std::exception& e) {
    base::log(base::LogLevel::error, "buffer", context.runtime().rank(), e.what());
  }
}

}  // namespace

BufferHandle::BufferHandle(const Context& context, const Extents& extents, int dims, Index element_bytes,
                           CallSite site) {
  const std::shared_ptr<ContextState>& owner = context.state_ref();
  const base::Shape shape = checked_shape(extents, dims, element_bytes, site);
  const Inside inside(*owner, "creating a buffer", site);
  state_ = std::make_shared<BufferState>(owner, owner->program().create(shape, to_string(site)));
  state_->extents = extents;
  state_->element_bytes = element_bytes;
  state_->site = to_string(site);
}

BufferHandle::BufferHandle(const Context& context, void* memory, const Extents& extents, int dims,
                           Index element_bytes, CallSite site) {
  const std::shared_ptr<ContextState>& owner = context.state_ref();
  const base::Shape shape = checked_shape(extents, dims, element_bytes, site);
  const Inside inside(*owner, "adopting memory", site);
  const execute::Adopted adopted{place_of(*owner, memory, element_bytes, site),
                                 static_cast<std::byte*>(memory)};
  if (adopted.place == base::kHostPlace) owner->runtime().adopt_host_memory(adopted.first, shape.bytes());
  state_ = std::make_shared<BufferState>(owner, owner->program().adopt(shape, adopted, to_string(site)));
  state_->extents = extents;
  state_->element_bytes = element_bytes;
  state_->site = to_string(site);
}

void BufferHandle::give_back(CallSite site) const {
  ContextState& context = state()->context();
  const Inside inside(context, "give_back", site);
  give_back_adopted(context, state()->buffer(inside), site);
}

BufferHandle& BufferHandle::operator=(BufferHandle&& other) noexcept {
  if (this == &other) return *this;
  release_quietly(state_);
  state_ = std::move(other.state_);
  return *this;
}

BufferHandle::~BufferHandle() { release_quietly(state_); }

const Extents& BufferHandle::extents() const { return state()->extents; }

ViewHandle BufferHandle::open(const Box& box, Access access, CallSite site) const {
  ContextState& context = state()->context();
  const Inside inside(context, "opening a host view", site);
  auto view = context.views().open(state()->buffer(inside), box, mode_of(access), to_string(site));
  return ViewHandle(std::make_shared<ViewState>(state()->context_ref(), std::move(view), site));
}

ViewHandle BufferHandle::open_bytes(Interval bytes, Access access, CallSite site) const {
  ContextState& context = state()->context();
  const Inside inside(context, "opening a host view", site);
  auto view = context.views().open_bytes(state()->buffer(inside), bytes, mode_of(access), to_string(site));
  return ViewHandle(std::make_shared<ViewState>(state()->context_ref(), std::move(view), site));
}

ViewHandle BufferHandle::open_at(int rank, const Box& box, CallSite site) const {
  ContextState& context = state()->context();
  const Inside inside(context, "reading back", site);
  auto view = context.views().open_at(state()->buffer(inside), {rank}, box, to_string(site));
  return ViewHandle(std::make_shared<ViewState>(state()->context_ref(), std::move(view), site));
}

ViewHandle BufferHandle::open_local(const Box& box, CallSite site) const {
  ContextState& context = state()->context();
  const Inside inside(context, "opening a local view", site);
  auto view = context.views().open_local(state()->buffer(inside), box, to_string(site));
  return ViewHandle(std::make_shared<ViewState>(state()->context_ref(), std::move(view), site));
}

void* BufferHandle::open_all(CallSite site) const {
  ContextState& context = state()->context();
  const std::lock_guard one_opens(state()->opening_all);
  const Inside inside(context, "data()", site);
  execute::Buffer& buffer = state()->buffer(inside);
  if (!buffer.instances->dense()) {
    throw Error(ErrorCode::unsupported,
                "data() at " + to_string(site) + ": a buffer of " + to_string(extents()) +
                    " is larger than an address slot and has no plain pointer: open boxes of it");
  }
  if (state()->all == nullptr || !state()->all->open) {
    state()->all = context.views().open_all(buffer, to_string(site));
  }
  return address();
}

void BufferHandle::open_led(bool everywhere, CallSite site) const {
  ContextState& context = state()->context();
  const std::lock_guard one_opens(state()->opening_all);
  const Inside inside(context, "opening a host view", site);
  execute::Buffer& buffer = state()->buffer(inside);
  if (state()->all != nullptr && state()->all->open) {
    if (state()->all->everywhere || !everywhere) return;
    context.views().close(*std::exchange(state()->all, nullptr), to_string(site));
  }
  state()->all = context.views().open_led(buffer, everywhere, to_string(site));
}

void BufferHandle::close_all(CallSite site) const {
  ContextState& context = state()->context();
  const Inside inside(context, "close()", site);
  if (state()->all == nullptr) return;
  const auto view = std::exchange(state()->all, nullptr);
  context.views().close(*view, to_string(site));
}

void* BufferHandle::address() const {
  const Inside inside(state()->context(), "address()", {});
  execute::Buffer& buffer = state()->buffer(inside);
  if (!buffer.instances->dense()) {
    throw Error(ErrorCode::unsupported,
                "a buffer of " + to_string(extents()) +
                    " is larger than an address slot and has no single address: use boxes");
  }
  return state()->context().views().address(buffer);
}

void BufferHandle::set_block(Index bytes, CallSite site) const {
  const Inside inside(state()->context(), "set_block", site);
  state()->context().views().set_block_bytes(state()->buffer(inside), bytes, to_string(site));
}

std::vector<Box> BufferHandle::local_boxes() const {
  ContextState& context = state()->context();
  const Inside inside(context, "local_boxes", {});
  execute::Buffer& buffer = state()->buffer(inside);
  context.views().settle(buffer);
  std::vector<Box> boxes;
  for (const base::ByteBox& b : buffer.directory->produced_by(context.runtime().rank())) {
    if (b[base::kByteAxis].size() != buffer.shape().element_bytes) continue;  // a broken element
    Box box{b[0], b[1], b[2]};
    box.dims = extents().dims;
    boxes.push_back(box);
  }
  std::sort(boxes.begin(), boxes.end(), [](const Box& a, const Box& b) {
    for (int axis = 0; axis < kMaxDims; ++axis) {
      if (a[axis].begin != b[axis].begin) return a[axis].begin < b[axis].begin;
    }
    return false;
  });
  return boxes;
}

void BufferHandle::release(CallSite site) {
  ContextState& context = state()->context();
  const Inside inside(context, "releasing a buffer", site);
  give_back_adopted(context, state()->buffer(inside), site);
  execute::Buffer& buffer = state()->buffer(inside);  // another thread may have released it meanwhile
  state()->forget();
  end_buffer(context, buffer, to_string(site));
}

const std::shared_ptr<BufferState>& BufferHandle::state() const {
  if (state_ == nullptr)
    throw Error(ErrorCode::already_released, "the buffer was moved from: use the one it went to");
  return state_;
}

ViewHandle::ViewHandle(std::shared_ptr<ViewState> state) : state_(std::move(state)) {}
ViewHandle& ViewHandle::operator=(ViewHandle&& other) noexcept = default;
ViewHandle::~ViewHandle() = default;
InstanceView ViewHandle::instance() const { return state_->instance(); }
Box ViewHandle::box() const { return state_->box(); }
void ViewHandle::acquire(const Box& box, CallSite site) {
  if (state_ != nullptr) state_->acquire(box, site);
}
void ViewHandle::release(CallSite site) {
  if (state_ != nullptr) state_->release(site);
}
void ViewHandle::close() {
  if (state_ != nullptr) state_->close();
}

}  // namespace detail

void Event::wait() const {
  if (completion_ != nullptr) completion_->wait();
}
bool Event::done() const { return completion_ == nullptr || completion_->done(); }

}  // namespace v0
}  // namespace nuna
