// Copies between any two pointers or boxes, and fills (HPE section 3.2: one call for any two pointers).
//
// Boxes of two buffers are copied by a launch of Nuna's own over the target's box, so they move like any launch's data.
// Bytes that are no boxes, and host memory, go through host views.

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include "context_state.hpp"
#include "device/elements.hpp"

namespace nuna {
inline namespace v0 {

using detail::CallSite;
using detail::ContextState;
using detail::Inside;
using detail::InstanceView;
using detail::Resolved;
using device::ElementCopy;
using device::ElementFill;
using device::ElementSide;

namespace {

// How launch axes run through a box: the axes longer than 1, in order.
struct Axes {
  std::array<int, kMaxDims> axis{};
  std::array<Index, kMaxDims> size{1, 1, 1};
  int count = 0;
};

Axes long_axes(const Box& box) {
  Axes axes;
  for (int a = 0; a < kMaxDims; ++a) {
    if (box[a].size() <= 1) continue;
    axes.axis[static_cast<std::size_t>(axes.count)] = a;
    axes.size[static_cast<std::size_t>(axes.count)] = box[a].size();
    ++axes.count;
  }
  if (axes.count == 0) {
    axes.axis[0] = kMaxDims - 1;
    axes.count = 1;
  }
  return axes;
}

AccessMap map_of(const Box& box, const Axes& axes) {
  std::array<AxisRule, kMaxDims> rules{};
  for (int a = 0; a < kMaxDims; ++a)
    rules[static_cast<std::size_t>(a)] = AxisRule{AxisRule::kFixed, 1, box[a].begin};
  for (int x = 0; x < axes.count; ++x) {
    const int a = axes.axis[static_cast<std::size_t>(x)];
    rules[static_cast<std::size_t>(a)] = AxisRule{x, 1, box[a].begin};
  }
  return AccessMap(rules);
}

Domain domain_of(const Axes& axes) {
  Extents extents;
  extents.dims = axes.count;
  for (int x = 0; x < axes.count; ++x)
    extents.size[static_cast<std::size_t>(x)] = axes.size[static_cast<std::size_t>(x)];
  return Domain(extents);
}

ElementSide side_of(const Box& box, const Axes& axes) {
  return {axes.axis, {box[0].begin, box[1].begin, box[2].begin}};
}

// Calls f(i, j, k, count) for every run of threads along the last axis of the box.
template <class F>
void for_each_run(const Box& threads, F f) {
  const int last = threads.dims - 1;
  Box rest = threads;
  rest[last] = {0, 1};
  for (Index i = rest[0].begin; i < rest[0].end; ++i) {
    for (Index j = rest[1].begin; j < rest[1].end; ++j) {
      std::array<Index, kMaxDims> at{i, j, 0};
      at[static_cast<std::size_t>(last)] = threads[last].begin;
      f(at[0], at[1], at[2], threads[last].size());
    }
  }
}

void copy_elements(const void* closure, const Box& threads, const InstanceView* views) {
  const auto& self = *static_cast<const ElementCopy*>(closure);
  const int last = threads.dims - 1;
  const Index to_stride = self.to.stride(views[0], last);
  const Index from_stride = self.from.stride(views[1], last);
  const Index element = self.element_bytes;
  for_each_run(threads, [&](Index i, Index j, Index k, Index count) {
    char* to = self.to.at(views[0], i, j, k, threads.dims);
    const char* from = self.from.at(views[1], i, j, k, threads.dims);
    if (to_stride == element && from_stride == element) {
      std::memcpy(to, from, static_cast<std::size_t>(count * element));
      return;
    }
    for (Index n = 0; n < count; ++n)
      std::memcpy(to + n * to_stride, from + n * from_stride, static_cast<std::size_t>(element));
  });
}

void fill_run(char* to, Index stride, const char* value, std::size_t size, Index count) {
  const bool one_byte = std::all_of(value, value + size, [&](char c) { return c == value[0]; });
  if (one_byte && stride == static_cast<Index>(size)) {
    std::memset(to, value[0], size * static_cast<std::size_t>(count));
    return;
  }
  for (Index n = 0; n < count; ++n) std::memcpy(to + n * stride, value, size);
}

void fill_elements(const void* closure, const Box& threads, const InstanceView* views) {
  const auto& self = *static_cast<const ElementFill*>(closure);
  const Index stride = self.to.stride(views[0], threads.dims - 1);
  for_each_run(threads, [&](Index i, Index j, Index k, Index count) {
    fill_run(self.to.at(views[0], i, j, k, threads.dims), stride, self.value.data(),
             static_cast<std::size_t>(self.element_bytes), count);
  });
}

// Of elements that are too large for a closure that devices copy: on the CPU only.
struct LargeFill {
  ElementSide to;
  std::vector<char> value;

  static void run(const void* closure, const Box& threads, const InstanceView* views) {
    const auto& self = *static_cast<const LargeFill*>(closure);
    const Index stride = self.to.stride(views[0], threads.dims - 1);
    for_each_run(threads, [&](Index i, Index j, Index k, Index count) {
      fill_run(self.to.at(views[0], i, j, k, threads.dims), stride, self.value.data(), self.value.size(),
               count);
    });
  }
};

constexpr detail::CudaKernel kCudaCopy{nullptr, nullptr, "nuna_copy_elements"};
constexpr detail::CudaKernel kCudaFill{nullptr, nullptr, "nuna_fill_elements"};

[[noreturn]] void refuse(CallSite site, const std::string& why) {
  throw Error(ErrorCode::invalid_argument, "copy at " + to_string(site) + ": " + why);
}

Event launch_copy(ContextState& context, std::optional<int> device, execute::Buffer& to, const Box& to_box,
                  execute::Buffer& from, const Box& from_box, CallSite site) {
  const Axes to_axes = long_axes(to_box);
  const Axes from_axes = long_axes(from_box);
  execute::Launch launch;
  const std::string where = to_string(site);
  launch.name = "copy";
  launch.site = where;
  launch.arguments.shape.domain = domain_of(to_axes);
  if (device) launch.arguments.shape.run_on(*device);
  launch.arguments.shape.block = Extents{1, 1, 1};
  launch.code.run = &copy_elements;
  launch.code.closure_bytes = sizeof(ElementCopy);
  launch.code.cuda = &kCudaCopy;
  launch.closure = std::make_shared<const ElementCopy>(
      ElementCopy{side_of(to_box, to_axes), side_of(from_box, from_axes), to.shape().element_bytes});
  launch.arguments.add(to, map_of(to_box, to_axes), false, true, false);
  launch.arguments.add(from, map_of(from_box, from_axes), true, false, false);
  return detail::launch_internal(context, launch);
}

void check_box(const execute::Buffer& buffer, const Box& box, const Inside& inside) {
  const Extents& extents = buffer.shape().extents;
  if (box.dims != extents.dims || box.empty()) {
    throw Error(ErrorCode::invalid_argument, inside.where() + ": the box " + to_string(box) +
                                                 " of a buffer of " + to_string(extents) +
                                                 " is empty or has other axes");
  }
  if (!Box(extents).contains(box)) {
    throw Error(ErrorCode::out_of_bounds, inside.where() + ": the box " + to_string(box) +
                                              " leaves the buffer of " + to_string(extents));
  }
}

// Rows of a pitched side, as one span of bytes around them.
struct Rows {
  Index planes = 1;
  Index rows = 1;
  Index bytes = 0;
  Index row_pitch = 0;
  Index plane_pitch = 0;

  Index span() const { return (planes - 1) * plane_pitch + (rows - 1) * row_pitch + bytes; }
  template <class F>
  void for_each(F f) const {
    for (Index p = 0; p < planes; ++p) {
      for (Index r = 0; r < rows; ++r) f(p * plane_pitch + r * row_pitch);
    }
  }
};

Rows rows_of(const Extents& e, Index row_pitch, Index plane_pitch, CallSite site) {
  if (e.dims < 1 || e.dims > kMaxDims)
    refuse(site, "the extents are {bytes}, {rows, bytes} or {planes, rows, bytes}");
  Rows r;
  r.bytes = e[e.dims - 1];
  r.rows = e.dims >= 2 ? e[e.dims - 2] : 1;
  r.planes = e.dims == 3 ? e[0] : 1;
  if (r.bytes < 1 || r.rows < 1 || r.planes < 1)
    refuse(site, "the box of " + to_string(e) + " bytes is empty");
  constexpr Index kMost = Index{1} << 60;  // sums and products below stay numbers
  r.row_pitch = e.dims >= 2 ? row_pitch : r.bytes;
  if (r.bytes > kMost || r.row_pitch > kMost / r.rows)
    refuse(site, "the box of " + to_string(e) + " bytes is larger than any memory");
  r.plane_pitch = e.dims == 3 ? plane_pitch : r.rows * r.row_pitch;
  if (r.plane_pitch > kMost / r.planes)
    refuse(site, "the box of " + to_string(e) + " bytes is larger than any memory");
  if (r.row_pitch < r.bytes || r.plane_pitch < (r.rows - 1) * r.row_pitch + r.bytes) {
    refuse(site, "rows of " + std::to_string(r.bytes) + " bytes overlap at a pitch of " +
                     std::to_string(r.row_pitch) + " and a plane pitch of " + std::to_string(r.plane_pitch));
  }
  return r;
}

// The box of elements that pitched rows form in a buffer, if they form one.
std::optional<Box> box_of(const execute::Buffer& buffer, Index offset, const Rows& r) {
  const base::Shape& shape = buffer.shape();
  base::ByteBox hull;
  Index bytes = 0;
  bool whole_boxes = true;
  r.for_each([&](Index at) {
    if (!whole_boxes) return;
    const base::BoxList boxes = base::boxes_of_range(shape, {offset + at, offset + at + r.bytes});
    whole_boxes = boxes.size() == 1 && boxes.front()[base::kByteAxis].size() == shape.element_bytes;
    hull = base::hull(hull, boxes.front());
    bytes += r.bytes;
  });
  if (!whole_boxes || hull.bytes() != bytes) return std::nullopt;
  Box box{hull[0], hull[1], hull[2]};
  box.dims = shape.extents.dims;
  return box;
}

// A side of a copy that goes through the host: its bytes by plain pointer while it lives.
class HostSide {
 public:
  HostSide(ContextState& context, const Resolved& where, const void* pointer, Interval bytes, adsm::Mode mode,
           CallSite site)
      : context_(context), site_(to_string(site)), pointer_(static_cast<char*>(const_cast<void*>(pointer))) {
    if (where.buffer == nullptr) return;
    do {  // until no launch of another thread has closed it during the opening
      view_ = context.views().open_bytes_now(
          *where.buffer, {where.offset + bytes.begin, where.offset + bytes.end}, mode, site_);
    } while (!view_->open);
    pointer_ = context.views().instance(*view_).origin + where.offset;
  }
  ~HostSide() {
    if (view_ != nullptr) context_.views().close_quietly(*view_, site_);
  }
  HostSide(const HostSide&) = delete;
  HostSide& operator=(const HostSide&) = delete;
  char* bytes() const { return pointer_; }
  void close() {
    if (view_ != nullptr) context_.views().close(*view_, site_);
  }

 private:
  ContextState& context_;
  std::string site_;
  char* pointer_;
  std::shared_ptr<adsm::HostView> view_;
};

void copy_rows(char* to, const Rows& to_rows, const char* from, const Rows& from_rows) {
  for (Index p = 0; p < to_rows.planes; ++p) {
    for (Index r = 0; r < to_rows.rows; ++r) {
      std::memmove(to + p * to_rows.plane_pitch + r * to_rows.row_pitch,
                   from + p * from_rows.plane_pitch + r * from_rows.row_pitch,
                   static_cast<std::size_t>(to_rows.bytes));
    }
  }
}

/// Rows without gaps.
Rows packed(Rows rows) {
  rows.row_pitch = rows.bytes;
  rows.plane_pitch = rows.rows * rows.bytes;
  return rows;
}

void copy_from_buffer(ContextState& context, char* to, const Rows& to_rows, const Resolved& from,
                      const void* from_pointer, const Rows& from_rows, CallSite site) {
  HostSide source(context, from, from_pointer, {0, from_rows.span()}, adsm::Mode::read, site);
  copy_rows(to, to_rows, source.bytes(), from_rows);
  source.close();
}

void copy_to_buffer(ContextState& context, void* to_pointer, const Rows& to_rows, const char* from,
                    const Rows& from_rows, const Inside& inside, CallSite site) {
  // Looked up now: other threads may have had their turn.
  const Resolved to = resolve(context, to_pointer, to_rows.span(), inside.where() + ": the target");
  const bool gaps = to_rows.span() != packed(to_rows).span();
  HostSide target(context, to, to_pointer, {0, to_rows.span()},
                  gaps ? adsm::Mode::read_write : adsm::Mode::write, site);
  copy_rows(target.bytes(), to_rows, from, from_rows);
  target.close();
}

void copy_through_host(ContextState& context, const Resolved& to, void* to_pointer, const Rows& to_rows,
                       const Resolved& from, const void* from_pointer, const Rows& from_rows,
                       const Inside& inside, CallSite site) {
  if (from.buffer == nullptr) {
    copy_to_buffer(context, to_pointer, to_rows, static_cast<const char*>(from_pointer), from_rows, inside,
                   site);
    return;
  }
  if (to.buffer == nullptr) {
    copy_from_buffer(context, static_cast<char*>(to_pointer), to_rows, from, from_pointer, from_rows, site);
    return;
  }
  const Rows aside_rows = packed(to_rows);
  std::vector<char> aside(static_cast<std::size_t>(aside_rows.span()));
  copy_from_buffer(context, aside.data(), aside_rows, from, from_pointer, from_rows, site);
  copy_to_buffer(context, to_pointer, to_rows, aside.data(), aside_rows, inside, site);
}

}  // namespace

void Context::copy(const Pitched& to, const ConstPitched& from, const Extents& bytes, const char* file,
                   int line) {
  const CallSite site{file, line};
  const Inside inside(state(), "copy", site, detail::kWithRoom);
  const Rows to_rows = rows_of(bytes, to.row_bytes, to.plane_bytes, site);
  const Rows from_rows = rows_of(bytes, from.row_bytes, from.plane_bytes, site);
  const Resolved target = resolve(state(), to.pointer, to_rows.span(), inside.where() + ": the target");
  const Resolved source = resolve(state(), from.pointer, from_rows.span(), inside.where() + ": the source");
  if (target.buffer == nullptr && source.buffer == nullptr) {
    copy_rows(static_cast<char*>(to.pointer), to_rows, static_cast<const char*>(from.pointer), from_rows);
    return;
  }
  if (target.buffer != nullptr && source.buffer != nullptr && target.buffer != source.buffer &&
      target.buffer->shape().element_bytes == source.buffer->shape().element_bytes) {
    const auto to_box = box_of(*target.buffer, target.offset, to_rows);
    const auto from_box = box_of(*source.buffer, source.offset, from_rows);
    if (to_box && from_box && long_axes(*to_box).size == long_axes(*from_box).size) {
      launch_copy(state(), std::nullopt, *target.buffer, *to_box, *source.buffer, *from_box, site);
      return;
    }
  }
  copy_through_host(state(), target, to.pointer, to_rows, source, from.pointer, from_rows, inside, site);
}

void Context::copy(void* to, const void* from, std::size_t bytes, const char* file, int line) {
  if (bytes == 0) return;
  const auto most = static_cast<std::size_t>(std::numeric_limits<Index>::max());
  copy(Pitched{to, 0, 0}, ConstPitched{from, 0, 0}, Extents{static_cast<Index>(std::min(bytes, most))}, file,
       line);
}

Event Context::copy_boxes(std::optional<int> device, const detail::BufferHandle& to, const Box& to_box,
                          const detail::BufferHandle& from, const Box& from_box, CallSite site) {
  const Inside inside(state(), "copy", site, detail::kWithRoom);
  execute::Buffer& target = detail::buffer_of(state(), to, inside);
  execute::Buffer& source = detail::buffer_of(state(), from, inside);
  check_box(target, to_box, inside);
  check_box(source, from_box, inside);
  if (long_axes(to_box).size != long_axes(from_box).size) {
    refuse(site,
           "from a box " + to_string(from_box) + " to a box " + to_string(to_box) + ": their sizes differ");
  }
  if (target.shape().element_bytes != source.shape().element_bytes) {
    refuse(site, "between elements of " + std::to_string(source.shape().element_bytes) + " and " +
                     std::to_string(target.shape().element_bytes) + " bytes");
  }
  if (&target != &source || to_box.intersect(from_box).empty()) {
    return launch_copy(state(), device, target, to_box, source, from_box, site);
  }
  // boxes of one buffer that overlap: the old contents go aside first
  execute::Buffer& aside = state().program().create(
      {Extents{from_box[0].size(), from_box[1].size(), from_box[2].size()}, source.shape().element_bytes},
      to_string(site));
  const auto release = [&] { state().program().destroy(aside, to_string(site)); };
  const Box whole(aside.shape().extents);
  try {
    launch_copy(state(), device, aside, whole, source, from_box, site);
    Event done = launch_copy(state(), device, target, to_box, aside, whole, site);
    release();
    return done;
  } catch (...) {
    release();
    throw;
  }
}

Event Context::fill_box(std::optional<int> device, const detail::BufferHandle& buffer, const Box& box,
                        const void* value, std::size_t bytes, CallSite site) {
  const Inside inside(state(), "fill", site, detail::kWithRoom);
  execute::Buffer& target = detail::buffer_of(state(), buffer, inside);
  check_box(target, box, inside);
  const Axes axes = long_axes(box);
  execute::Launch launch;
  const std::string where = to_string(site);
  launch.name = "fill";
  launch.site = where;
  launch.arguments.shape.domain = domain_of(axes);
  if (device) launch.arguments.shape.run_on(*device);
  const char* first = static_cast<const char*>(value);
  if (bytes <= ElementFill::kMostBytes) {
    ElementFill fill{side_of(box, axes), static_cast<Index>(bytes), {}};
    std::copy_n(first, bytes, fill.value.begin());
    launch.code.run = &fill_elements;
    launch.code.closure_bytes = sizeof fill;
    launch.code.cuda = &kCudaFill;
    launch.closure = std::make_shared<const ElementFill>(fill);
  } else {
    launch.code.run = &LargeFill::run;
    launch.closure = std::make_shared<const LargeFill>(
        LargeFill{side_of(box, axes), std::vector<char>(first, first + bytes)});
  }
  launch.arguments.add(target, map_of(box, axes), false, true, false);
  return detail::launch_internal(state(), launch);
}

}  // namespace v0
}  // namespace nuna
