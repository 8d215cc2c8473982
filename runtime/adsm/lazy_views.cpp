// Lazy views: what HostViews does for Contexts of one rank, where bytes come when they are touched.

#include <algorithm>
#include <exception>
#include <memory>
#include <utility>

#include "adsm/host_view.hpp"
#include "base/failure.hpp"
#include "base/log.hpp"
#include "nuna/error.hpp"

namespace nuna::adsm {

using base::ByteBox;
using execute::Paused;

namespace {

// Read through views of at most this size, bytes are brought at the opening.
constexpr Index kSmallBytes = Index{64} << 10;

}  // namespace

const HostSide::Mappings& HostViews::mappings() {
  if (!mappings_) {
    mappings_ = config_.mappings();
    if (mappings_->view != nullptr) {
      FaultHandler::add_grounds(mappings_->view, mappings_->bytes);
    }
  }
  return *mappings_;
}

// Where pointers are to stay good across launches; a view that is opened again and again works all the same.
void HostViews::warn_if_not_lazy() {
  if (!config_.lazy || mappings().view != nullptr) return;
  base::warn_once(
      "no second mapping",
      "the host's memory cannot be mapped twice here (a limit on address space or on file sizes, dozens of "
      "Contexts at once, or a kernel without files in memory): pointers of data() are good until the next "
      "launch only, as with NUNA_FAULTS=off");
}

bool HostViews::can_be_lazy(const execute::Buffer& buffer) {
  const auto& adopted = buffer.instances->adopted();
  return config_.lazy && buffer.instances->dense() && !(adopted && adopted->place == base::kHostPlace) &&
         mappings().view != nullptr;
}

HostSide* HostViews::known_side(const execute::Buffer& buffer) const {
  return static_cast<HostSide*>(buffer.host.get());
}

HostSide& HostViews::side_of(execute::Buffer& buffer) {
  if (HostSide* const known = known_side(buffer)) return *known;
  if (service_ == nullptr) {
    service_ = std::make_unique<FaultService>(turn_, [this](const FaultService::Request& r) { serve(r); });
  }
  program_.poison_host(buffer);
  const auto chosen = block_bytes_.find(buffer.number);
  auto side = std::make_unique<HostSide>(buffer, program_.places(), mappings(),
                                         chosen != block_bytes_.end() ? chosen->second : config_.block_bytes,
                                         *service_, program_.stats());
  sides_.emplace(side.get(), &buffer);
  buffer.host = std::move(side);
  return *known_side(buffer);
}

std::byte* HostViews::address(execute::Buffer& buffer) {
  if (buffer.host != nullptr) FaultHandler::ours();
  if (can_be_lazy(buffer)) return mappings().view + buffer.instances->offset();
  return reinterpret_cast<std::byte*>(buffer.instances->view(base::kHostPlace).origin);
}

void HostViews::set_block_bytes(execute::Buffer& buffer, Index bytes, std::string_view site) {
  if (bytes < kLeastBlockBytes || bytes > kMostBlockBytes || (bytes & (bytes - 1)) != 0) {
    throw Error(ErrorCode::invalid_argument, "blocks of " + std::to_string(bytes) + " bytes at " +
                                                 std::string(site) +
                                                 ": expected a power of two from 4096 to 2097152");
  }
  if (buffer.host != nullptr) {
    throw Error(ErrorCode::invalid_argument, "the size of blocks at " + std::string(site) +
                                                 ": the host has opened the buffer before; set it first");
  }
  block_bytes_[buffer.number] = bytes;
}

void HostViews::settle(execute::Buffer& buffer) {
  if (buffer.host == nullptr) return;
  const Paused paused(*buffer.host);
  program_.settle(buffer);
}

// The dense bytes of a box, ascending.
std::vector<Interval> HostViews::runs_of(const execute::Buffer& buffer, const base::BoxList& boxes) {
  std::vector<Interval> runs;
  for (const ByteBox& b : boxes) {
    for_each_run(buffer.shape(), b, {0, buffer.shape().bytes()}, [&](Index begin, Index end) {
      if (!runs.empty() && runs.back().end == begin) {
        runs.back().end = end;
      } else {
        runs.push_back({begin, end});
      }
      return true;
    });
  }
  return runs;
}

void HostViews::open_lazily(const std::shared_ptr<HostView>& view, bool waits, std::string_view site) {
  execute::Buffer& buffer = *view->buffer;
  view->lazy = true;
  const base::BoxList opened = boxes(*view);
  settle(buffer);
  if (waits && view->mode != Mode::write) {
    for (const ByteBox& b : opened) {
      if (view->mode == Mode::read) program_.check_written(buffer, b, site);
    }
    wait_for_makers(buffer, opened, site);
  }
  HostSide& side = side_of(buffer);
  side.add_view(view->mode != Mode::read);
  open_.push_back(view);
  add(*view);
  try {
    if (view->mode == Mode::write) return open_for_overwriting(side, *view, opened);
    Index bytes = 0;
    for (const ByteBox& b : opened) bytes += b.bytes();
    if (waits && bytes <= kSmallBytes) bring(*view, opened, site);
  } catch (...) {
    if (view->open) end(*view);
    throw;
  }
}

void HostViews::wait_for_makers(execute::Buffer& buffer, const base::BoxList& made, std::string_view site) {
  const std::uint64_t number = buffer.number;
  for (const ByteBox& b : made) {
    program_.wait_for_makers(buffer, b);
    check_exists(number, site);
  }
}

// All of it will be written: nothing is fetched, and whole blocks are open from the start.
void HostViews::open_for_overwriting(HostSide& side, HostView& view, const base::BoxList& opened) {
  execute::Buffer& buffer = *view.buffer;
  const std::vector<Interval> runs = runs_of(buffer, opened);
  for (;;) {
    {
      const Paused paused(side);
      program_.settle(buffer);
      if (!program_.host_is_used(buffer, opened, true)) {
        for (const ByteBox& b : opened) buffer.instances->ensure(base::kHostPlace, b);
        mark_written(view, program_.all_ranks());
        side.renew(runs.empty() ? Interval{0, 0} : runs.front());
        for (const Interval& r : runs) side.open(r, true, false);
        break;
      }
    }
    wait_for_host_users(view, opened);
    if (!view.open) return;
  }
  // The blocks at its ends hold other bytes, too.
  if (runs.size() == 1) bring(view, opened, view.site);
}

// Another thread may release the buffer meanwhile.
void HostViews::wait_for_host_users(const HostView& view, const base::BoxList& used) {
  const std::uint64_t number = view.buffer->number;
  program_.wait_for_host_users(*view.buffer, used);
  if (!view.open) check_exists(number, view.site);
}

// Now, in one go, with the rest of their blocks.
void HostViews::bring(const HostView& view, const base::BoxList& wanted, std::string_view site) {
  execute::Buffer& buffer = *view.buffer;
  HostSide& side = *known_side(buffer);
  const bool write = view.mode != Mode::read;
  const std::vector<Interval> bytes = runs_of(buffer, wanted);
  for (;;) {
    base::BoxList awaited;
    {
      const Paused paused(side);
      program_.settle(buffer);
      bool ready = true;
      for (const Interval& r : bytes) {
        if (side.is_open(r, write)) continue;
        base::BoxList lacking;
        for (const Interval& l : side.lacking(r)) {
          for (const ByteBox& b : base::boxes_of_range(buffer.shape(), l)) lacking.push_back(b);
        }
        program_.bring_to_host(buffer, lacking, site);
        side.renew(r);
        const Interval whole = side.whole_blocks(r);
        if (side.ready(whole, write)) {
          if (const std::exception_ptr failure = side.failure(r)) std::rethrow_exception(failure);
          side.open(whole, write, true);
        } else {
          ready = false;
          for (const ByteBox& b : base::boxes_of_range(buffer.shape(), whole)) awaited.push_back(b);
        }
      }
      if (ready) return;
    }
    wait_for_host_users(view, awaited);
    if (!view.open) return;  // closed by another thread
  }
}

void HostViews::acquire(const std::shared_ptr<HostView>& view, const Box& elements, std::string_view site) {
  if (!view->lazy) {
    if (view->open || view->elsewhere) return;
    if (view->ended) {
      throw Error(ErrorCode::invalid_argument, "acquire at " + std::string(site) +
                                                   ": the host view opened at " + view->site +
                                                   " was closed: open another");
    }
    view->open = true;
    view->begun = false;
    open_eagerly(view, view->bytes ? element_hull(view->buffer->shape(), *view->bytes) : view->elements,
                 site);
    return;
  }
  FaultHandler::ours();
  execute::Buffer& buffer = *view->buffer;
  base::BoxList wanted = boxes(*view);
  if (!view->bytes) {
    check_box(buffer, elements, site);
    wanted = {buffer.shape().of(elements.intersect(view->elements))};
  }
  if (!view->open) {
    throw Error(ErrorCode::invalid_argument, "acquire at " + std::string(site) +
                                                 ": the host view opened at " + view->site +
                                                 " was closed: open another");
  }
  wait_for_makers(buffer, wanted, site);
  if (view->open) bring(*view, wanted, site);
}

void HostViews::release(HostView& view, std::string_view site) {
  if (!view.open) return;
  if (!view.lazy) return close(view, site);
  HostSide& side = *known_side(*view.buffer);
  const Paused paused(side);
  program_.settle(*view.buffer);
  for (const Interval& r : runs_of(*view.buffer, boxes(view))) side.shut(r);
}

// In the service's thread, with the turn (or for a thread that has it).
void HostViews::serve(const FaultService::Request& request) {
  const auto known = sides_.find(request.side);
  if (known == sides_.end()) return;
  HostSide& side = *request.side;
  execute::Buffer& buffer = *known->second;
  const auto bytes_of = [&](Index count) {
    return side.whole_blocks(
        {request.first * side.block_bytes(), (request.first + count) * side.block_bytes()});
  };
  const Interval bytes = bytes_of(request.count);
  const Interval around = bytes_of(std::max<Index>(1, request.count));
  if (!request.paused) side.pause();
  if (request.doubt) {
    side.renew(around);
    if (const std::exception_ptr failure = side.failure(bytes)) {
      base::warn_once(
          "failed bytes of buffer " + std::to_string(buffer.number),
          "the host reads bytes of the buffer created at " + buffer.site +
              " by plain pointers, and what should have made them has failed (they are what they were "
              "before): " +
              base::text_of(failure));
    }
  } else {
    try {
      program_.settle(buffer);
      base::BoxList lacking;
      for (const Interval& l : side.lacking(bytes)) {
        for (const ByteBox& b : base::boxes_of_range(buffer.shape(), l)) lacking.push_back(b);
      }
      program_.bring_to_host(buffer, lacking, "a touched pointer");
    } catch (const std::exception& e) {
      base::log(base::LogLevel::error, "adsm", program_.config().rank,
                "the host touches the buffer created at " + buffer.site +
                    ", but its bytes cannot be brought: " + e.what());
      side.give_up();
    }
  }
  if (request.paused) {
    side.go_on(around);
  } else {
    side.renew(around);
    side.resume();
  }
}

}  // namespace nuna::adsm
