#include "recorded_sets.hpp"

#include <algorithm>

namespace nuna::cudart {
namespace {

struct Used {
  const ChunkRange* chunk;
  const PartSets* sets;
  std::size_t number;
  friend bool operator==(const Used& a, const Used& b) {
    return a.chunk->number == b.chunk->number && a.sets->reads(a.number) == b.sets->reads(b.number) &&
           a.sets->writes(a.number) == b.sets->writes(b.number);
  }
};

std::vector<Used> used_by(const RecordedSets& recorded, int part) {
  std::vector<Used> used;
  const PartSets& sets = recorded.part(part);
  for (std::size_t p = 0; p < recorded.chunks().size(); ++p) {
    if (!sets.reads(p).empty() || !sets.writes(p).empty()) used.push_back({&recorded.chunks()[p], &sets, p});
  }
  return used;
}

const char* name_of(int axis) { return axis == 0 ? "x" : axis == 1 ? "y" : "z"; }

}  // namespace

std::size_t PartSets::search(Interval addresses) const {
  const auto behind =
      std::upper_bound(chunks_->begin(), chunks_->end(), addresses.begin,
                       [](Index at, const ChunkRange& chunk) { return at < chunk.addresses.end; });
  if (behind == chunks_->end() || !behind->addresses.contains(addresses)) return kNowhere;
  return static_cast<std::size_t>(behind - chunks_->begin());
}

RecordedSets::RecordedSets(std::shared_ptr<const Chunks> chunks, const Grid& grid, int axis, int parts)
    : chunks_(std::move(chunks)), axis_(axis), blocks_(grid[static_cast<std::size_t>(axis)]) {
  sets_.reserve(static_cast<std::size_t>(parts));
  for (int part = 0; part < parts; ++part) sets_.emplace_back(chunks_);
}

void RecordedSets::clear() {
  for (PartSets& part : sets_) part = PartSets(chunks_);
}

int RecordedSets::part_of(Interval wanted) const {
  for (int part = 0; part < parts(); ++part) {
    if (blocks(part).contains(wanted)) return part;
  }
  return -1;
}

std::optional<std::string> RecordedSets::refusal() const {
  for (const PartSets& part : sets_) {
    if (part.refusal()) return part.refusal();
  }
  return std::nullopt;
}

std::optional<std::string> RecordedSets::conflict() const {
  for (int writer = 0; writer < parts(); ++writer) {
    for (int other = 0; other < parts(); ++other) {
      if (other == writer) continue;
      for (std::size_t p = 0; p < chunks_->size(); ++p) {
        const ByteSet& written = part(writer).writes(p);
        const bool writes = written.first_common(part(other).writes(p)).has_value();
        if (!writes && !written.first_common(part(other).reads(p))) continue;
        return std::string("blocks that differ in ") + name_of(axis_) +
               (writes ? " write the same bytes" : " read what others write");
      }
    }
  }
  return std::nullopt;
}

std::size_t RecordedSets::written_rows() const {
  std::size_t rows = 0;
  for (const PartSets& part : sets_) {
    for (std::size_t p = 0; p < chunks_->size(); ++p) rows += part.writes(p).ranges().size();
  }
  return rows;
}

bool operator==(const RecordedSets& a, const RecordedSets& b) {
  if (a.axis() != b.axis() || a.blocks_ != b.blocks_ || a.parts() != b.parts()) return false;
  for (int part = 0; part < a.parts(); ++part) {
    if (used_by(a, part) != used_by(b, part)) return false;
  }
  return true;
}

LaunchHistory::LaunchHistory(const Grid& grid, int parts) {
  for (int axis = 2; axis >= 0; --axis) {
    if (grid[static_cast<std::size_t>(axis)] >= static_cast<std::uint32_t>(parts)) axes_.push_back(axis);
  }
  if (axes_.empty()) give_up("has fewer blocks along each axis than there are devices");
}

void LaunchHistory::give_up(std::string why) {
  next_ = Next::run_whole;
  reason_ = std::move(why);
  last_.reset();
}

void LaunchHistory::add(std::shared_ptr<const RecordedSets> recorded) {
  if (const auto why = recorded->refusal()) return give_up(*why);
  if (const auto why = recorded->conflict()) {
    last_.reset();
    stable_ = 0;
    if (++axis_ == axes_.size()) return give_up(*why);
  } else {
    stable_ = last_ != nullptr && *last_ == *recorded ? stable_ + 1 : 1;
    last_ = std::move(recorded);
    if (stable_ >= kStable) {
      next_ = Next::share;
      recordings_ = 0;
      return;
    }
  }
  if (++recordings_ >= kMostRecordings) give_up("touches other bytes at each launch");
}

void LaunchHistory::add_deviation() {
  if (++deviations_ >= kMostDeviations) return give_up("has touched other bytes than before too often");
  next_ = Next::record;
  last_.reset();
  stable_ = 0;
}

}  // namespace nuna::cudart
