#pragma once
// What one block touches, beside what it may.

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "byte_ranges.hpp"
#include "watcher.hpp"

namespace nuna::cudart {

/// Used by one thread, by which its block runs.
class BlockAudit final : public Watcher {
 public:
  /// Whether bytes that are not in the sets count.
  using IsJudged = std::function<bool(Interval bytes, bool writes)>;

  BlockAudit(const ByteRanges& reads, const ByteRanges& writes, IsJudged is_judged)
      : reads_(reads), writes_(writes), is_judged_(std::move(is_judged)) {}

  /// Also asks for what of `bytes` is not written; the number by which unwritten() knows it.
  std::size_t expect(ByteRanges bytes) {
    expected_.emplace_back(std::move(bytes));
    return expected_.size() - 1;
  }
  Index touch(const Touch& access) override;

  /// What it touched and should not have: neighbours of one source line are one.
  const std::vector<Touch>& trespasses() const { return trespasses_; }
  std::vector<Interval> unwritten(std::size_t expected) const;

 private:
  void keep(const Touch& access);

  const ByteRanges& reads_;
  const ByteRanges& writes_;
  const IsJudged is_judged_;
  std::size_t near_read_ = 0;
  std::size_t near_write_ = 0;
  std::vector<MarkedBytes> expected_;
  std::vector<Touch> trespasses_;
};

}  // namespace nuna::cudart
