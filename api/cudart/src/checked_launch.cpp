#include "checked_launch.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "kernel.hpp"
#include "part_watch.hpp"

namespace nuna::cudart {
namespace {

/// What a row of its own costs, in bytes: what lies between two that are nearer is brought, too.
constexpr Index kRowBytes = 4096;

std::vector<Interval> with_small_gaps(const std::vector<Interval>& rows) {
  std::vector<Interval> joined;
  for (const Interval row : rows) {
    if (!joined.empty() && row.begin - joined.back().end < kRowBytes) {
      joined.back().end = row.end;
    } else {
      joined.push_back(row);
    }
  }
  return joined;
}

/// What each part declares of a chunk, as Nuna asks for it: for a part, or for some of its blocks.
AccessMap map_of(const std::shared_ptr<const RecordedSets>& sets, std::size_t chunk, bool writes) {
  std::vector<std::vector<Interval>> rows;
  for (int part = 0; part < sets->parts(); ++part) {
    const PartSets& touched = sets->part(part);
    rows.push_back(writes ? touched.writes(chunk).ranges() : with_small_gaps(touched.reads(chunk).ranges()));
  }
  return AccessMap(
      [sets, rows](const Part& part, std::vector<Box>& boxes) {
        const Interval blocks = part.blocks[2 - sets->axis()];
        for (int p = 0; p < sets->parts(); ++p) {
          if (sets->blocks(p).intersect(blocks).empty()) continue;
          for (const Interval row : rows[static_cast<std::size_t>(p)]) boxes.push_back(box_of(row));
        }
      },
      new_identity());
}

/// The bytes of some ranges, one after the other.
class Saved {
 public:
  void save(std::size_t chunk, const std::vector<Interval>& ranges, const char* first) {
    for (const Interval range : ranges) {
      rows_.push_back({chunk, range});
      bytes_.insert(bytes_.end(), first + range.begin, first + range.end);
    }
  }
  void put_back(const Chunks& chunks) const {
    const char* from = bytes_.data();
    for (const auto& [chunk, range] : rows_) {
      // NOLINTNEXTLINE(performance-no-int-to-ptr): the program's address of the chunk
      std::memcpy(reinterpret_cast<char*>(chunks[chunk].addresses.begin + range.begin), from,
                  static_cast<std::size_t>(range.size()));
      from += range.size();
    }
  }

 private:
  std::vector<std::pair<std::size_t, Interval>> rows_;
  std::vector<char> bytes_;
};

/// The kernel on the devices.
class GuardedKernel {
 public:
  static constexpr std::size_t kNoView = ~std::size_t{0};

  /// `views`: of each chunk, which of the launch's arguments is in it.
  GuardedKernel(const KernelAction& action, Spread& spread, std::shared_ptr<const RecordedSets> sets,
                std::vector<std::size_t> views)
      : action_(action.shared_from_this()),
        spread_(spread),
        sets_(std::move(sets)),
        views_(std::move(views)),
        parts_(static_cast<std::size_t>(sets_->parts())) {}

  static void run(const void* self, const Box& blocks, const detail::InstanceView* views) {
    static_cast<const GuardedKernel*>(self)->run(cudart::blocks_of(blocks), views);
  }

  /// When all parts have ended.
  const std::optional<Touch>& deviation() const { return deviation_; }
  void undo() const {
    for (const Part& part : parts_) part.saved.put_back(sets_->chunks());
  }

 private:
  struct Part {
    std::once_flag once;
    Saved saved;
  };

  void run(const GridBox& blocks, const detail::InstanceView* views) const {
    const auto axis = static_cast<std::size_t>(sets_->axis());
    const int number = sets_->part_of({blocks.first[axis], blocks.last[axis]});
    if (number < 0) {
      std::fprintf(stderr, "nuna: profile: blocks of two recorded parts run as one\n");
      std::abort();
    }
    if (stopped_.load(std::memory_order_relaxed)) return;
    const PartSets& sets = sets_->part(number);
    std::vector<Index> copies(views_.size());
    for (std::size_t p = 0; p < views_.size(); ++p) {
      if (views_[p] != kNoView)
        copies[p] = static_cast<Index>(reinterpret_cast<std::uintptr_t>(views[views_[p]].origin));
    }
    Part& part = parts_[static_cast<std::size_t>(number)];
    std::call_once(part.once, [&] {
      for (std::size_t p = 0; p < views_.size(); ++p) {
        if (views_[p] != kNoView) part.saved.save(p, sets.writes(p).ranges(), views[views_[p]].origin);
      }
    });
    PartGuard guard(*action_->function().image, sets, copies, sets_->chunks());
    const cudaError_t error = action_->run_watched(blocks, guard);
    if (guard.deviation()) {
      stopped_.store(true, std::memory_order_relaxed);
      const std::lock_guard lock(mutex_);
      if (!deviation_) deviation_ = guard.deviation();
    } else if (error != cudaSuccess) {
      spread_.note_error(error);
    }
  }

  const std::shared_ptr<const KernelAction> action_;
  Spread& spread_;
  const std::shared_ptr<const RecordedSets> sets_;
  const std::vector<std::size_t> views_;
  // Kernels are called by a pointer to const.
  mutable std::vector<Part> parts_;
  mutable std::atomic<bool> stopped_{false};
  mutable std::mutex mutex_;
  mutable std::optional<Touch> deviation_;
};

}  // namespace

CheckedLaunch::CheckedLaunch(std::shared_ptr<const RecordedSets> sets) : sets_(std::move(sets)) {
  for (std::size_t chunk = 0; chunk < sets_->chunks().size(); ++chunk) {
    for (const bool writes : {false, true}) {
      bool is_used = false;
      for (int part = 0; part < sets_->parts(); ++part) {
        const PartSets& touched = sets_->part(part);
        is_used = is_used || !(writes ? touched.writes(chunk) : touched.reads(chunk)).empty();
      }
      if (is_used) arguments_.push_back({chunk, writes, map_of(sets_, chunk, writes)});
    }
  }
}

std::optional<std::string> CheckedLaunch::run(const KernelAction& action, Spread& spread,
                                              Memory& memory) const {
  const std::vector<Memory::Backing> backings = memory.backings();
  std::vector<std::size_t> views(sets_->chunks().size(), GuardedKernel::kNoView);
  GridLaunch launch;
  for (const Argument& argument : arguments_) {
    const ChunkRange& chunk = sets_->chunks()[argument.chunk];
    const auto backing = std::find_if(backings.begin(), backings.end(), [&](const Memory::Backing& each) {
      return each.number == chunk.number;
    });
    if (backing == backings.end()) return "touches memory that was freed";
    views[argument.chunk] = launch.arguments.size();
    detail::LaunchArgument made;
    made.buffer = &backing->buffer->handle();
    made.map = &argument.map;
    made.reads = !argument.writes;
    made.writes = argument.writes;
    made.may = argument.writes;
    launch.arguments.push_back(made);
  }
  const auto kernel = std::make_shared<GuardedKernel>(action, spread, sets_, std::move(views));
  launch.name = action.function().name.c_str();
  launch.grid = action.shape().grid;
  launch.axis = sets_->axis();
  launch.run = &GuardedKernel::run;
  launch.closure = kernel;
  spread.start(launch);
  spread.settle();
  if (!kernel->deviation()) return std::nullopt;
  kernel->undo();
  return text_of(*kernel->deviation());
}

}  // namespace nuna::cudart
