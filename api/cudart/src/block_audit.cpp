#include "block_audit.hpp"

#include <algorithm>
#include <cstring>

namespace nuna::cudart {
namespace {

constexpr std::size_t kMostTrespasses = 256;
constexpr std::size_t kMostUnwritten = 16;

}  // namespace

Index BlockAudit::touch(const Touch& access) {
  if (access.writes()) {
    for (MarkedBytes& each : expected_) each.mark(access.bytes);
  }
  if (!(access.writes() ? writes_.holds(access.bytes, &near_write_)
                        : reads_.holds(access.bytes, &near_read_)))
    keep(access);
  return access.bytes.begin;
}

void BlockAudit::keep(const Touch& access) {
  for (Touch& other : trespasses_) {
    if (other.kind != access.kind || other.line != access.line || other.file != access.file) continue;
    if (access.bytes.begin > other.bytes.end || access.bytes.end < other.bytes.begin) continue;
    other.bytes = {std::min(other.bytes.begin, access.bytes.begin),
                   std::max(other.bytes.end, access.bytes.end)};
    return;
  }
  if (!is_judged_(access.bytes, access.writes())) return;
  if (trespasses_.size() < kMostTrespasses) trespasses_.push_back(access);
}

std::vector<Interval> BlockAudit::unwritten(std::size_t expected) const {
  return expected_[expected].unmarked(kMostUnwritten);
}

}  // namespace nuna::cudart
