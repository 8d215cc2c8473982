#include "split_plan.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "tiles.hpp"

namespace nuna::cudart {
namespace {

/// What a row of its own costs, in bytes: messages and copies are made of rows.
constexpr double kRowBytes = 4096;

std::array<Index, 6> ends_of(const access::BlockBox& box) {
  return {box[0].begin, box[0].end, box[1].begin, box[1].end, box[2].begin, box[2].end};
}

double cost_of(const access::Footprint& footprint) {
  double rows = 0;
  for (const access::Rows& each : footprint.rows) rows += static_cast<double>(each.count);
  return static_cast<double>(footprint.bytes()) + rows * kRowBytes;
}

/// Rows that nearly touch are cheaper as one: Nuna keeps account of each.
constexpr Index kFewRows = 4;
constexpr double kMostWaste = 1.25;
/// And of so many the account costs more than to bring what lies between them: if no other part has to do with that, and if others have.
constexpr Index kManyRows = 32;
constexpr Index kVeryManyRows = 1024;

/// Written rows of a launch that cannot be one a part: it would wait longer for the account than the host computes.
constexpr Index kMostRows = 16384;

Index rows_in(const access::Footprint& footprint) {
  Index rows = 0;
  for (const access::Rows& each : footprint.rows) rows += each.count;
  return rows;
}

Interval span_of(const access::Footprint& footprint) {
  Interval span{std::numeric_limits<Index>::max(), std::numeric_limits<Index>::min()};
  for (const access::Rows& each : footprint.rows) {
    span.begin = std::min(span.begin, each.begin);
    span.end = std::max(span.end, each.begin + (each.count - 1) * each.stride + each.bytes);
  }
  return span;
}

bool is_nearly_whole(const access::Footprint& footprint) {
  return static_cast<double>(span_of(footprint).size()) <=
         kMostWaste * static_cast<double>(footprint.bytes());
}

bool is_better_as_span(const access::Footprint& footprint, bool is_alone) {
  const Index rows = rows_in(footprint);
  return rows > (is_alone ? kManyRows : kVeryManyRows) || (rows > kFewRows && is_nearly_whole(footprint));
}

access::Footprint as_span(const access::Footprint& footprint) {
  if (footprint.rows.empty()) return footprint;
  const Interval span = span_of(footprint);
  return {false, {{span.begin, span.size(), span.size(), 1}}};
}

const char* axis_name(int axis) { return axis == 0 ? "x" : axis == 1 ? "y" : "z"; }

}  // namespace

std::string text_of(const access::Refusal& refusal) {
  if (refusal.at.line == 0) return refusal.reason;
  return refusal.reason + " (" + refusal.at.file + ":" + std::to_string(refusal.at.line) + ")";
}

SplitPlan::SplitPlan(const access::KernelModel& model, const access::LaunchNumbers& numbers, int parts)
    : grid_(numbers.grid), access_(model, numbers), spans_(model.pointers.size()), read_spans_(spans_) {
  reason_ = refusal(model, parts);
  if (reason_) return;
  std::vector<bool> spans(model.pointers.size());
  for (std::uint32_t p = 0; p < model.pointers.size(); ++p)
    spans[p] = access_.writes(p) && spans_pay(p, parts, &SplitPlan::written);
  std::vector<bool> read_spans(model.pointers.size());
  for (std::uint32_t p = 0; p < model.pointers.size(); ++p)
    read_spans[p] = access_.reads(p) && spans_pay(p, parts, &SplitPlan::read);
  join_rows(spans, written_);
  join_rows(read_spans, read_);
  spans_ = std::move(spans);
  read_spans_ = std::move(read_spans);
  Index rows = 0;
  for (std::uint32_t p = 0; p < model.pointers.size(); ++p) {
    for (int part = 0; access_.writes(p) && part < parts; ++part)
      rows += rows_in(written(p, part_of(axis_, parts, part)));
  }
  if (rows > kMostRows) reason_ = "writes " + std::to_string(rows) + " rows that lie apart";
}

void SplitPlan::join_rows(const std::vector<bool>& of_pointers, Footprints& footprints) {
  for (auto& [key, footprint] : footprints) {
    if (of_pointers[std::get<0>(key)]) footprint = as_span(footprint);
  }
}

std::optional<std::string> SplitPlan::refusal(const access::KernelModel& model, int parts) {
  if (access_.refusal()) return text_of(*access_.refusal());
  for (std::uint32_t p = 0; p < model.pointers.size(); ++p) {
    if (!model.pointers[p].variable.empty() && access_.writes(p))
      return "writes the variable " + model.pointers[p].variable;
  }
  return choose_axis(model, parts);
}

/// Whether what each part touches is many rows, nearly whole or very many, and no two parts' spans meet.
bool SplitPlan::spans_pay(std::uint32_t pointer, int parts, Touched touched) {
  std::vector<Interval> spans;
  Index rows = 0;
  for (int part = 0; part < parts; ++part) {
    const access::Footprint& footprint = (this->*touched)(pointer, part_of(axis_, parts, part));
    if (footprint.anywhere) return false;
    if (footprint.rows.empty()) continue;
    if (!is_nearly_whole(footprint) && rows_in(footprint) <= kManyRows) return false;
    rows += rows_in(footprint);
    spans.push_back(span_of(footprint));
  }
  std::sort(spans.begin(), spans.end(),
            [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  for (std::size_t i = 1; i < spans.size(); ++i) {
    if (spans[i].begin < spans[i - 1].end) return false;
  }
  return rows > kFewRows * parts;
}

// The axis along which parts bring the least together, of those along which no two write the same byte.
std::optional<std::string> SplitPlan::choose_axis(const access::KernelModel& model, int parts) {
  double least = std::numeric_limits<double>::infinity();
  std::string why = "has fewer blocks along each axis than there are devices";
  for (int axis = 2; axis >= 0; --axis) {
    if (grid_[static_cast<std::size_t>(axis)] < parts) continue;
    std::vector<Index> begins;
    for (int part = 1; part < parts; ++part)
      begins.push_back(part_of(axis, parts, part)[static_cast<std::size_t>(axis)].begin);
    access::Refusal refusal;
    if (!access_.is_disjoint(axis, begins, &refusal)) {
      why =
          std::string("blocks that differ in ") + axis_name(axis) +
          " write the same bytes, and which comes last is not known" +
          (refusal.at.line == 0 ? "" : " (" + refusal.at.file + ":" + std::to_string(refusal.at.line) + ")");
      if (access_.refusal()) return text_of(*access_.refusal());
      continue;
    }
    const double cost = traffic(model, axis, parts);
    if (cost >= least) continue;
    least = cost;
    axis_ = axis;
  }
  if (access_.refusal()) return text_of(*access_.refusal());
  if (least == std::numeric_limits<double>::infinity()) return why;
  return std::nullopt;
}

double SplitPlan::traffic(const access::KernelModel& model, int axis, int parts) {
  double cost = 0;
  for (int part = 0; part < parts; ++part) {
    const access::BlockBox box = part_of(axis, parts, part);
    for (std::uint32_t p = 0; p < model.pointers.size(); ++p) {
      if (access_.reads(p)) cost += cost_of(read(p, box));
      if (access_.writes(p)) cost += cost_of(written(p, box));
    }
  }
  return cost;
}

access::BlockBox SplitPlan::part_of(int axis, int parts, int part) const {
  access::BlockBox box;
  for (std::size_t a = 0; a < 3; ++a) box[a] = {0, grid_[a]};
  const auto a = static_cast<std::size_t>(axis);
  box[a] = blocks_of_part(grid_[a], part, parts);
  return box;
}

const access::Footprint& SplitPlan::read(std::uint32_t pointer, const access::BlockBox& box) {
  const auto [at, is_new] = read_.try_emplace({pointer, ends_of(box)});
  if (is_new) {
    at->second = access_.read(pointer, box);
    if (read_spans_[pointer] || is_better_as_span(at->second, reason_.has_value()))
      at->second = as_span(at->second);
  }
  return at->second;
}

const access::Footprint& SplitPlan::written(std::uint32_t pointer, const access::BlockBox& box) {
  const auto [at, is_new] = written_.try_emplace({pointer, ends_of(box)});
  if (is_new) {
    at->second = access_.written(pointer, box);
    if (spans_[pointer] || (reason_ && is_better_as_span(at->second, true))) at->second = as_span(at->second);
  }
  return at->second;
}

}  // namespace nuna::cudart
