#include "checked_launch.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "byte_ranges.hpp"
#include "kernel.hpp"
#include "part_copies.hpp"
#include "part_watch.hpp"

namespace nuna::cudart {

/// What parts read and write, chunk by chunk.
struct CheckedRows {
  struct OfPart {
    std::vector<ByteRows> brought;  ///< at least what is read; with copies of their own what is written, too
    std::vector<ByteRows> written;
  };
  std::shared_ptr<const RecordedSets> sets;
  bool on_copies = false;  ///< parts work on copies of their own where they write
  std::vector<OfPart> parts;

  explicit CheckedRows(std::shared_ptr<const RecordedSets> recorded);
  std::size_t chunks() const { return sets->chunks().size(); }
  bool any(std::size_t chunk, bool writes) const {
    return std::any_of(parts.begin(), parts.end(), [&](const OfPart& part) {
      return !(writes ? part.written : part.brought)[chunk].empty();
    });
  }
};

namespace {

/// What a row of its own costs, in bytes: what lies between two that are nearer is brought, too.
constexpr Index kRowBytes = 4096;

ByteRows with_small_gaps(const ByteRows& rows) {
  ByteRows joined;
  for (const Interval row : rows) {
    if (!joined.empty() && row.begin - joined.back().end < kRowBytes) {
      joined.back().end = row.end;
    } else {
      joined.push_back(row);
    }
  }
  return joined;
}

ByteRows both(ByteRows rows, const ByteRows& others) {
  rows.insert(rows.end(), others.begin(), others.end());
  return ByteRanges(std::move(rows)).ranges();
}

/// What each part declares of a chunk, as Nuna asks for it: for a part, or for some of its blocks.
AccessMap map_of(const std::shared_ptr<const CheckedRows>& rows, std::size_t chunk, bool writes) {
  return AccessMap(
      [rows, chunk, writes](const Part& part, std::vector<Box>& boxes) {
        const RecordedSets& sets = *rows->sets;
        const Interval blocks = part.blocks[2 - sets.axis()];
        for (int p = 0; p < sets.parts(); ++p) {
          if (sets.blocks(p).intersect(blocks).empty()) continue;
          const CheckedRows::OfPart& of = rows->parts[static_cast<std::size_t>(p)];
          for (const Interval row : (writes ? of.written : of.brought)[chunk]) boxes.push_back(box_of(row));
        }
      },
      new_identity());
}

/// The kernel on the devices.
class GuardedKernel {
 public:
  static constexpr std::size_t kNoView = ~std::size_t{0};

  /// `views`: of each chunk, which of the launch's arguments is in it.
  GuardedKernel(const KernelAction& action, Spread& spread, std::shared_ptr<const CheckedRows> rows,
                std::vector<std::size_t> views)
      : action_(action.shared_from_this()),
        spread_(spread),
        rows_(std::move(rows)),
        views_(std::move(views)),
        parts_(rows_->parts.size()) {}

  static void run(const void* self, const Box& blocks, const detail::InstanceView* views) {
    static_cast<const GuardedKernel*>(self)->run(cudart::blocks_of(blocks), views);
  }

  /// When all parts have ended.
  const std::optional<Touch>& deviation() const { return deviation_; }
  /// Then makes what they wrote the program's, or takes it back: the host's views are open.
  void end() const;

 private:
  struct Part {
    std::once_flag once;
    SavedRows saved;                  // as they were
    std::vector<WorkingCopy> copies;  // of chunks that are written
  };

  void prepare(Part& part, const CheckedRows::OfPart& rows, const detail::InstanceView* views) const;
  void run(const GridBox& blocks, const detail::InstanceView* views) const;

  const std::shared_ptr<const KernelAction> action_;
  Spread& spread_;
  const std::shared_ptr<const CheckedRows> rows_;
  const std::vector<std::size_t> views_;
  // Kernels are called by a pointer to const.
  mutable std::vector<Part> parts_;
  mutable std::atomic<bool> stopped_{false};
  mutable std::mutex mutex_;
  mutable std::optional<Touch> deviation_;
};

void GuardedKernel::end() const {
  std::vector<char*> firsts;
  for (const ChunkRange& chunk : rows_->sets->chunks())
    firsts.push_back(reinterpret_cast<char*>(chunk.addresses.begin));  // NOLINT(performance-no-int-to-ptr)
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const Part& part = parts_[p];
    if (deviation_) part.saved.put_back(firsts);
    for (std::size_t c = 0; !deviation_ && c < part.copies.size(); ++c)
      copy_rows(rows_->parts[p].written[c], firsts[c], part.copies[c].first());
  }
}

void GuardedKernel::prepare(Part& part, const CheckedRows::OfPart& rows,
                            const detail::InstanceView* views) const {
  if (rows_->on_copies) part.copies.resize(rows_->chunks());
  for (std::size_t c = 0; c < rows_->chunks(); ++c) {
    if (rows.written[c].empty()) continue;
    const char* const first = views[views_[c]].origin;
    if (rows_->on_copies) {
      part.copies[c] = WorkingCopy(rows.brought[c], first);
    } else {
      part.saved.save(c, rows.written[c], first);
    }
  }
}

void GuardedKernel::run(const GridBox& blocks, const detail::InstanceView* views) const {
  const RecordedSets& sets = *rows_->sets;
  const auto axis = static_cast<std::size_t>(sets.axis());
  const int number = sets.part_of({blocks.first[axis], blocks.last[axis]});
  if (number < 0) {
    std::fprintf(stderr, "nuna: profile: blocks of two recorded parts run as one\n");
    std::abort();
  }
  if (stopped_.load(std::memory_order_relaxed)) return;
  Part& part = parts_[static_cast<std::size_t>(number)];
  std::call_once(part.once, [&] { prepare(part, rows_->parts[static_cast<std::size_t>(number)], views); });
  std::vector<Index> firsts(views_.size());
  for (std::size_t c = 0; c < views_.size(); ++c) {
    if (views_[c] == kNoView) continue;
    const char* const copy = c < part.copies.size() ? part.copies[c].first() : nullptr;
    firsts[c] = static_cast<Index>(
        reinterpret_cast<std::uintptr_t>(copy != nullptr ? copy : views[views_[c]].origin));
  }
  PartGuard guard(*action_->function().image, sets.part(number), firsts, sets.chunks());
  const cudaError_t error = action_->run_watched(blocks, guard);
  if (guard.deviation()) {
    stopped_.store(true, std::memory_order_relaxed);
    const std::lock_guard lock(mutex_);
    if (!deviation_) deviation_ = guard.deviation();
  } else if (error != cudaSuccess) {
    spread_.note_error(error);
  }
}

}  // namespace

CheckedRows::CheckedRows(std::shared_ptr<const RecordedSets> recorded)
    : sets(std::move(recorded)), on_copies(sets->written_rows() > CheckedLaunch::kFewRows) {
  for (int p = 0; p < sets->parts(); ++p) {
    OfPart& part = parts.emplace_back();
    for (std::size_t c = 0; c < chunks(); ++c) {
      ByteRows read = sets->part(p).reads(c).ranges();
      part.written.push_back(sets->part(p).writes(c).ranges());
      if (on_copies) read = both(std::move(read), part.written.back());
      part.brought.push_back(with_small_gaps(read));
    }
  }
}

CheckedLaunch::CheckedLaunch(std::shared_ptr<const RecordedSets> sets)
    : rows_(std::make_shared<const CheckedRows>(std::move(sets))) {
  for (std::size_t chunk = 0; chunk < rows_->chunks(); ++chunk) {
    if (rows_->any(chunk, false)) arguments_.push_back({chunk, false, map_of(rows_, chunk, false)});
    if (!rows_->on_copies && rows_->any(chunk, true))
      arguments_.push_back({chunk, true, map_of(rows_, chunk, true)});
  }
}

std::optional<std::string> CheckedLaunch::run(const KernelAction& action, Spread& spread,
                                              Memory& memory) const {
  const std::vector<Memory::Backing> backings = memory.backings();
  std::vector<std::size_t> views(rows_->sets->chunks().size(), GuardedKernel::kNoView);
  GridLaunch launch;
  for (const Argument& argument : arguments_) {
    const ChunkRange& chunk = rows_->sets->chunks()[argument.chunk];
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
  const auto kernel = std::make_shared<GuardedKernel>(action, spread, rows_, std::move(views));
  launch.name = action.function().name.c_str();
  launch.grid = action.shape().grid;
  launch.axis = rows_->sets->axis();
  launch.run = &GuardedKernel::run;
  launch.closure = kernel;
  spread.start(launch);
  spread.settle();
  kernel->end();
  if (!kernel->deviation()) return std::nullopt;
  return text_of(*kernel->deviation());
}

}  // namespace nuna::cudart
