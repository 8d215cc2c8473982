#include "adsm/host_view.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <mutex>

#include "base/failure.hpp"
#include "base/log.hpp"
#include "nuna/error.hpp"

namespace nuna::adsm {

using base::ByteBox;

Box element_hull(const base::Shape& shape, Interval bytes) {
  ByteBox all;
  for (const ByteBox& b : base::boxes_of_range(shape, bytes)) all = base::hull(all, b);
  Box box{all[0], all[1], all[2]};
  box.dims = shape.extents.dims;
  return box;
}

HostViews::HostViews(execute::Program& program, base::Turn& turn, Config config)
    : program_(program), turn_(turn), config_(std::move(config)) {}

HostViews::~HostViews() {
  const std::scoped_lock lock(turn_);
  for (const auto& [side, buffer] : sides_) buffer->host.reset();
  sides_.clear();  // what the service was asked for before is nobody's
  turn_.outside([this] { service_.reset(); });
  if (mappings_ && mappings_->view != nullptr) FaultHandler::remove_grounds(mappings_->view);
}

base::BoxList HostViews::boxes(const HostView& view) const {
  if (view.bytes) return base::boxes_of_range(view.buffer->shape(), *view.bytes);
  return {view.buffer->shape().of(view.elements)};
}

void HostViews::check_box(const execute::Buffer& buffer, const Box& elements, std::string_view site) const {
  const std::string where = "the host view at " + std::string(site);
  const Extents& extents = buffer.shape().extents;
  if (elements.dims != extents.dims) {
    throw Error(ErrorCode::invalid_argument, where + " has " + std::to_string(elements.dims) +
                                                 " axes of a buffer with " + std::to_string(extents.dims) +
                                                 ": give one interval per axis");
  }
  if (elements.empty())
    throw Error(ErrorCode::invalid_argument, where + " of " + to_string(elements) + " is empty");
  if (!Box(extents).contains(elements)) {
    throw Error(ErrorCode::out_of_bounds,
                where + " of " + to_string(elements) + " leaves the buffer of " + to_string(extents));
  }
}

// Two eager views of the same bytes, one of them writable, would see each other's unfinished changes.
std::shared_ptr<HostView> HostViews::in_the_way_of(const HostView& wanted) const {
  for (const auto& other : open_) {
    if (!other->open || other->lazy || other->buffer != wanted.buffer) continue;
    if (other->mode == Mode::read && wanted.mode == Mode::read) continue;
    for (const ByteBox& a : boxes(*other)) {
      for (const ByteBox& b : boxes(wanted)) {
        if (a.overlaps(b)) return other;
      }
    }
  }
  return nullptr;
}

// What another thread is opening may be a copy's, and closed as soon as it is begun.
void HostViews::wait_until_free(const HostView& wanted) {
  const std::uint64_t buffer = wanted.buffer->number;
  while (const auto other = in_the_way_of(wanted)) {
    if (other->begun) {
      throw Error(ErrorCode::invalid_argument,
                  "the host view at " + wanted.site + " overlaps the one that was opened at " + other->site +
                      " and is still open: close it first (only views that read may overlap)");
    }
    turn_.outside([this, seen = begins_.load()] { begins_.wait(seen); });
    check_exists(buffer, wanted.site);
  }
}

void HostViews::check_exists(std::uint64_t buffer, std::string_view site) const {
  for (const execute::Buffer& b : program_.buffers()) {
    if (b.number == buffer) return;
  }
  throw Error(ErrorCode::already_released,
              "the host view at " + std::string(site) + ": another thread released the buffer meanwhile");
}

void HostViews::tell_begun() {
  begins_.fetch_add(1);
  begins_.notify_all();
}

// The view's bytes may be used from now on.
void HostViews::add(HostView& view) {
  view.begun = true;
  tell_begun();
  if (!view.elsewhere) view.buffer->instances->pin(base::kHostPlace);
}

void HostViews::end(HostView& view) {
  view.open = false;
  if (!view.begun) tell_begun();
  if (view.begun && !view.elsewhere) view.buffer->instances->unpin(base::kHostPlace);
  if (std::exchange(view.paused, false)) view.buffer->host->resume();
  open_.remove_if([&](const auto& v) { return v.get() == &view; });
  if (!view.lazy) return;
  HostSide& side = *known_side(*view.buffer);
  side.end_view(view.mode != Mode::read);
  // Pointers that are used too long are noticed at the next launch that writes, or at once if asked for.
  if (!program_.config().check || side.has_views()) return;
  const execute::Paused paused(side);
  program_.settle(*view.buffer);
  side.close_all();
}

std::shared_ptr<HostView> HostViews::open(execute::Buffer& buffer, const Box& elements, Mode mode,
                                          std::string_view site) {
  rethrow_kept(buffer);
  check_box(buffer, elements, site);
  auto view =
      std::make_shared<HostView>(HostView{&buffer, mode, elements, std::nullopt, std::string(site), {}});
  if (can_be_lazy(buffer)) {
    open_lazily(view, true, site);
  } else {
    open_eagerly(view, elements, site);
  }
  return view;
}

std::shared_ptr<HostView> HostViews::open_all(execute::Buffer& buffer, std::string_view site) {
  const Box elements(buffer.shape().extents);
  if (!can_be_lazy(buffer)) {
    warn_if_not_lazy();
    return open(buffer, elements, Mode::read_write, site);
  }
  rethrow_kept(buffer);
  auto view = std::make_shared<HostView>(
      HostView{&buffer, Mode::read_write, elements, std::nullopt, std::string(site), {}});
  open_lazily(view, false, site);
  return view;
}

std::shared_ptr<HostView> HostViews::open_led(execute::Buffer& buffer, bool everywhere,
                                              std::string_view site) {
  const Interval all{0, buffer.shape().bytes()};
  rethrow_kept(buffer);
  refuse_bytes(buffer, all, site);
  auto view = std::make_shared<HostView>(HostView{&buffer, Mode::read_write, {}, all, std::string(site), {}});
  view->led = true;
  view->everywhere = everywhere;
  view->elsewhere = !everywhere && program_.config().rank.value != 0;
  const std::optional<base::RankId> only =
      everywhere ? std::nullopt : std::optional<base::RankId>(base::RankId{0});
  open_eagerly(view, [&] { program_.fetch(buffer, Box(buffer.shape().extents), only, true, site); });
  return view;
}

void HostViews::refuse_bytes(const execute::Buffer& buffer, Interval bytes, std::string_view site) const {
  if (bytes.empty() || bytes.begin < 0 || bytes.end > buffer.shape().bytes()) {
    throw Error(ErrorCode::out_of_bounds, "the host view at " + std::string(site) + ": bytes [" +
                                              std::to_string(bytes.begin) + ", " + std::to_string(bytes.end) +
                                              ") are not a range inside the buffer's " +
                                              std::to_string(buffer.shape().bytes()) + " bytes");
  }
  if (!buffer.instances->dense()) {
    throw Error(ErrorCode::unsupported,
                "the host view at " + std::string(site) + ": a buffer of " +
                    std::to_string(buffer.shape().bytes()) +
                    " bytes is larger than an address slot and is not stored densely: open boxes of it");
  }
}

std::shared_ptr<HostView> HostViews::open_bytes(execute::Buffer& buffer, Interval bytes, Mode mode,
                                                std::string_view site) {
  if (!can_be_lazy(buffer)) return open_bytes_now(buffer, bytes, mode, site);
  rethrow_kept(buffer);
  refuse_bytes(buffer, bytes, site);
  auto view = std::make_shared<HostView>(HostView{&buffer, mode, {}, bytes, std::string(site), {}});
  open_lazily(view, true, site);
  return view;
}

std::shared_ptr<HostView> HostViews::open_bytes_now(execute::Buffer& buffer, Interval bytes, Mode mode,
                                                    std::string_view site) {
  rethrow_kept(buffer);
  refuse_bytes(buffer, bytes, site);
  auto view = std::make_shared<HostView>(HostView{&buffer, mode, {}, bytes, std::string(site), {}});
  open_eagerly(view, element_hull(buffer.shape(), bytes), site);
  return view;
}

std::shared_ptr<HostView> HostViews::open_at(execute::Buffer& buffer, base::RankId rank, const Box& elements,
                                             std::string_view site) {
  rethrow_kept(buffer);
  check_box(buffer, elements, site);
  if (rank.value < 0 || rank.value >= program_.config().team.ranks) {
    throw Error(ErrorCode::invalid_argument, "host_at at " + std::string(site) + ": there is no rank " +
                                                 std::to_string(rank.value) + " among " +
                                                 std::to_string(program_.config().team.ranks));
  }
  if (can_be_lazy(buffer)) return open(buffer, elements, Mode::read, site);
  auto view = std::make_shared<HostView>(
      HostView{&buffer, Mode::read, elements, std::nullopt, std::string(site), {}});
  view->elsewhere = rank != program_.config().rank;
  open_eagerly(view, [&] { program_.fetch(buffer, elements, rank, false, site); });
  return view;
}

std::shared_ptr<HostView> HostViews::open_local(execute::Buffer& buffer, const Box& elements,
                                                std::string_view site) {
  rethrow_kept(buffer);
  check_box(buffer, elements, site);
  auto view = std::make_shared<HostView>(
      HostView{&buffer, Mode::read, elements, std::nullopt, std::string(site), {}});
  if (can_be_lazy(buffer)) {
    settle(buffer);
    program_.check_local(buffer, elements, site);
    open_lazily(view, true, site);
    return view;
  }
  open_eagerly(view, [&] { program_.fetch_local(buffer, elements, site); });
  return view;
}

void HostViews::open_eagerly(const std::shared_ptr<HostView>& view, const Box& fetched,
                             std::string_view site) {
  const std::uint64_t call = asked(*view);
  open_eagerly(view, [&] {
    if (view->mode == Mode::write) {
      program_.count_call("host view for writing", site, call);
    } else {
      program_.fetch(*view->buffer, fetched, std::nullopt, view->mode == Mode::read_write, site);
    }
  });
}

// `bring` gets the bytes to the host; it may wait. The view counts as open from the beginning, so nobody opens another that
// conflicts; but a launch of another thread that closes it before it is begun has nothing to finish.
void HostViews::open_eagerly(const std::shared_ptr<HostView>& view, const std::function<void()>& bring) {
  wait_until_free(*view);
  const std::uint64_t buffer = view->buffer->number;
  open_.push_back(view);
  try {
    bring();
    begin(*view, buffer);
  } catch (...) {
    if (view->open) end(*view);
    throw;
  }
}

// After each wait another thread may have closed the view by a launch, or released the buffer.
void HostViews::begin(HostView& view, std::uint64_t buffer) {
  const auto stands = [&] {
    if (!view.open) check_exists(buffer, view.site);
    return view.open;
  };
  if (!stands()) return;
  const base::BoxList opened = boxes(view);
  for (;;) {
    if (view.mode != Mode::read && !view.elsewhere) {
      for (const ByteBox& b : opened) {
        program_.open_for_writing(*view.buffer, b);
        if (!stands()) return;
      }
    }
    if (view.buffer->host == nullptr) break;
    // From here on nothing is waited for until the end of the view.
    view.buffer->host->pause();
    program_.settle(*view.buffer);
    if (!program_.host_is_used(*view.buffer, opened, view.mode != Mode::read)) break;
    view.buffer->host->resume();
    program_.wait_for_host_users(*view.buffer, opened);
    if (!stands()) return;
  }
  view.paused = view.buffer->host != nullptr;
  add(view);
  if (view.mode == Mode::write) mark_written(view, program_.all_ranks());
  if (view.mode == Mode::read_write && program_.config().team.ranks > 1 && !view.elsewhere)
    view.twin = packed(view);
}

detail::InstanceView HostViews::instance(const HostView& view) const {
  detail::InstanceView v = view.buffer->instances->view(base::kHostPlace);
  if (view.lazy) v.origin = reinterpret_cast<char*>(known_side(*view.buffer)->view());
  if (view.bytes) {
    v.stride_bytes = {1, 1, 1};
    v.extents = Extents{view.buffer->shape().bytes()};
  }
  return v;
}

void HostViews::close(HostView& view, std::string_view site) {
  view.ended = true;
  end_now(view, site);
}

void HostViews::end_now(HostView& view, std::string_view site) {
  if (!view.open) return;
  end(view);
  if (view.lazy || !view.begun) return;  // what was written lazily is known when somebody asks
  if (view.mode == Mode::write) finish_write(view, site);
  if (view.mode == Mode::read_write && view.led) return finish_led(view, site);
  if (view.mode == Mode::read_write) finish_read_write(view, site);
}

void HostViews::close_quietly(HostView& view, std::string_view site) noexcept {
  if (!view.open) return;
  const std::uint64_t buffer = view.buffer->number;
  try {
    close(view, site);
  } catch (...) {
    kept_.push_back({buffer, std::current_exception()});
  }
}

void HostViews::close_for_launch(const execute::Arguments& arguments, std::string_view site) {
  for (execute::Buffer* b : arguments.buffers) rethrow_kept(*b);
  const auto has_side = [](const execute::Buffer* b) { return b->host != nullptr; };
  if (std::any_of(arguments.buffers.begin(), arguments.buffers.end(), has_side)) FaultHandler::ours();
  const auto is_closed = [&](const std::shared_ptr<HostView>& v) {
    const auto& uses = arguments.shape.uses;
    return !v->lazy && std::any_of(uses.begin(), uses.end(), [&](const plan::ArgumentUse& use) {
      return v->buffer == arguments.buffers[static_cast<std::size_t>(use.buffer)] &&
             (use.writes || v->mode != Mode::read);
    });
  };
  std::vector<std::shared_ptr<HostView>> closed;
  std::copy_if(open_.begin(), open_.end(), std::back_inserter(closed), is_closed);
  for (const auto& v : closed) end_now(*v, site);
}

void HostViews::forget(execute::Buffer& buffer) {
  const auto views = open_;
  for (const auto& v : views) {
    if (v->buffer == &buffer) end(*v);
  }
  if (HostSide* const side = known_side(buffer)) {
    settle(buffer);  // so that all of its memory is given back
    sides_.erase(side);
    buffer.host.reset();
  }
  block_bytes_.erase(buffer.number);
  std::erase_if(kept_, [&](const Kept& k) {
    if (k.buffer != buffer.number) return false;
    base::log(base::LogLevel::error, "view", program_.config().rank,
              "a failure that no call asked for before the buffer was released: " + base::text_of(k.failure));
    return true;
  });
}

void HostViews::rethrow_kept() {
  if (kept_.empty()) return;
  const std::exception_ptr failure = kept_.front().failure;
  kept_.erase(kept_.begin());
  std::rethrow_exception(failure);
}

void HostViews::rethrow_kept(const execute::Buffer& buffer) {
  const auto kept =
      std::find_if(kept_.begin(), kept_.end(), [&](const Kept& k) { return k.buffer == buffer.number; });
  if (kept == kept_.end()) return;
  const std::exception_ptr failure = kept->failure;
  kept_.erase(kept);
  std::rethrow_exception(failure);
}

}  // namespace nuna::adsm
