#include "checked_launch.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "byte_ranges.hpp"
#include "kernel.hpp"
#include "part_copies.hpp"
#include "part_watch.hpp"
#include "ranks.hpp"

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
  /// Throws Error where ranks have not written what parts write: some did not run.
  void check(const std::vector<std::vector<std::byte>>& written_by_rank) const;
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
  /// Takes back what the parts have written where they do not work on copies of their own.
  static void undo(const void* self, const Box& blocks, const detail::InstanceView* views) {
    static_cast<const GuardedKernel*>(self)->undo(cudart::blocks_of(blocks), views);
  }

  /// When all parts of this rank have ended.
  const std::optional<Touch>& deviation() const { return deviation_; }
  /// What they have written to their copies, one row behind the other.
  std::vector<std::byte> written() const;
  /// Puts what all ranks' parts have written where the program has it: on the host, whose views are open.
  void put(const std::vector<std::vector<std::byte>>& written_by_rank) const;

 private:
  struct Part {
    std::once_flag once;
    std::once_flag undone;
    SavedRows saved;                  // as they were
    std::vector<WorkingCopy> copies;  // of chunks that are written
  };

  int part_of(const GridBox& blocks) const;
  void undo(const GridBox& blocks, const detail::InstanceView* views) const;
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

std::vector<std::byte> GuardedKernel::written() const {
  std::vector<std::byte> bytes;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    for (std::size_t c = 0; c < parts_[p].copies.size(); ++c) {
      const auto* const first = reinterpret_cast<const std::byte*>(parts_[p].copies[c].first());
      for (const Interval row : rows_->parts[p].written[c])
        bytes.insert(bytes.end(), first + row.begin, first + row.end);
    }
  }
  return bytes;
}

/// Devices, and so parts, are numbered rank by rank.
void GuardedKernel::put(const std::vector<std::vector<std::byte>>& written_by_rank) const {
  auto rank = written_by_rank.begin();
  std::size_t at = 0;
  for (const CheckedRows::OfPart& part : rows_->parts) {
    for (std::size_t c = 0; c < rows_->chunks(); ++c) {
      for (const Interval row : part.written[c]) {
        while (at == rank->size()) {
          ++rank;
          at = 0;
        }
        const auto size = static_cast<std::size_t>(row.size());
        if (rank->size() - at < size) {
          std::fprintf(stderr, "nuna: profile: a rank has written other rows than its parts\n");
          std::abort();
        }
        // NOLINTNEXTLINE(performance-no-int-to-ptr)
        auto* const to = reinterpret_cast<char*>(rows_->sets->chunks()[c].addresses.begin + row.begin);
        std::memcpy(to, rank->data() + at, size);
        at += size;
      }
    }
  }
}

void GuardedKernel::undo(const GridBox& blocks, const detail::InstanceView* views) const {
  Part& part = parts_[static_cast<std::size_t>(part_of(blocks))];
  std::call_once(part.undone, [&] {
    std::vector<char*> firsts;
    for (const std::size_t view : views_) firsts.push_back(view == kNoView ? nullptr : views[view].origin);
    part.saved.put_back(firsts);
  });
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

int GuardedKernel::part_of(const GridBox& blocks) const {
  const auto axis = static_cast<std::size_t>(rows_->sets->axis());
  const int number = rows_->sets->part_of({blocks.first[axis], blocks.last[axis]});
  if (number < 0) {
    std::fprintf(stderr, "nuna: profile: blocks of two recorded parts run as one\n");
    std::abort();
  }
  return number;
}

void GuardedKernel::run(const GridBox& blocks, const detail::InstanceView* views) const {
  const RecordedSets& sets = *rows_->sets;
  const int number = part_of(blocks);
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
  const Heard heard;
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

void CheckedRows::check(const std::vector<std::vector<std::byte>>& written_by_rank) const {
  Index missing = 0;
  for (const OfPart& part : parts) {
    for (const ByteRows& rows : part.written) {
      for (const Interval row : rows) missing += row.size();
    }
  }
  for (const auto& written : written_by_rank) missing -= static_cast<Index>(written.size());
  if (missing != 0) throw Error(ErrorCode::kernel_failed, "some of its parts did not run");
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
  const auto& found = kernel->deviation();
  const auto deviation = spread.first_said(found ? std::optional(text_of(*found)) : std::nullopt);
  if (deviation && !rows_->on_copies) {
    launch.run = &GuardedKernel::undo;
    spread.start(launch);
    spread.settle();
  }
  if (deviation || !rows_->on_copies) return deviation;
  const auto written = spread.gathered(kernel->written());
  rows_->check(written);
  std::vector<const void*> pointers;
  for (std::size_t c = 0; c < rows_->chunks(); ++c) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    if (rows_->any(c, true))
      pointers.push_back(reinterpret_cast<void*>(rows_->sets->chunks()[c].addresses.begin));
  }
  if (spread.begin_turn(pointers)) kernel->put(written);
  spread.end_turn();
  return std::nullopt;
}

}  // namespace nuna::cudart
