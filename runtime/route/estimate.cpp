#include <algorithm>
#include <limits>

#include "base/check.hpp"
#include "base/units.hpp"
#include "route/course.hpp"

namespace nuna::route {
namespace {

__extension__ using Wide = unsigned __int128;  // 2^60 bytes at 1 B/s are more picoseconds than 64 bits hold

Wide wide(std::int64_t value) { return static_cast<Wide>(value); }

std::int64_t narrow(Wide time_ps) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  return time_ps > wide(kMost) ? kMost : static_cast<std::int64_t>(time_ps);
}

Wide moving_ps(Index bytes, std::int64_t bytes_per_second) {
  const Wide rate = wide(bytes_per_second);
  return (wide(bytes) * wide(base::kPicosecondsPerSecond) + rate - 1) / rate;
}

Wide fixed_ps(const Course& course) {
  Wide sum = 0;
  for (const Stage& stage : course.stages) sum += wide(stage.fixed_ps);
  return sum;
}

/// All stages, one after the other.
Wide passage_ps(const Course& course, Index bytes) {
  Wide sum = fixed_ps(course);
  for (const Stage& stage : course.stages) sum += moving_ps(bytes, stage.bytes_per_second);
  return sum;
}

/// The time between two chunks of a pipeline that is full: the slowest stage's, or, with fewer blocks than stages, what a
/// block needs until it is free again, shared among the blocks.
Wide period_ps(const Course& course, Index chunk, int blocks) {
  Wide period = (passage_ps(course, chunk) + wide(blocks) - 1) / wide(blocks);
  for (const Stage& stage : course.stages)
    period = std::max(period, wide(stage.fixed_ps) + moving_ps(chunk, stage.bytes_per_second));
  return period;
}

int blocks_of(const Course& course, const Limits& limits) {
  return std::min(static_cast<int>(course.stages.size()), limits.most_blocks);
}

/// The first chunk passes all stages, each further one comes a period later. For one chunk size this never falls when bytes
/// grow, so neither does the least over all chunk sizes.
Wide pipeline_ps(const Course& course, Index bytes, Index chunk, const Limits& limits) {
  if (bytes <= chunk) return passage_ps(course, bytes);
  const int blocks = blocks_of(course, limits);
  const Index chunks = (bytes + chunk - 1) / chunk;
  const Index last = bytes - (chunks - 1) * chunk;
  return passage_ps(course, chunk) + wide(chunks - 2) * period_ps(course, chunk, blocks) +
         period_ps(course, last, blocks);
}

struct Chunking {
  Wide time_ps = 0;
  Index chunk_bytes = 0;
};

/// The least of the quickest chunks.
Chunking best_chunking(const Course& course, Index bytes, const Limits& limits) {
  Index chunk = limits.least_chunk_bytes;
  Chunking best{pipeline_ps(course, bytes, chunk, limits), chunk};
  while (chunk < limits.most_chunk_bytes) {
    chunk = chunk > limits.most_chunk_bytes / 2 ? limits.most_chunk_bytes : 2 * chunk;
    if (const Wide time = pipeline_ps(course, bytes, chunk, limits); time < best.time_ps)
      best = {time, chunk};
  }
  return best;
}

}  // namespace

Estimate estimate(const Course& course, Index bytes, const Limits& limits) {
  base::check(course.obstacle.empty(), "the time of a way that is not possible: " + course.obstacle);
  base::check(bytes >= 0, "a negative number of bytes to move");
  Estimate estimate;
  Wide time = 0;
  if (course.chunked) {
    base::check(1 <= limits.least_chunk_bytes && limits.least_chunk_bytes <= limits.most_chunk_bytes,
                "the least chunk is above the most, or below 1 byte");
    const Chunking chunking = best_chunking(course, bytes, limits);
    time = chunking.time_ps;
    estimate.chunk_bytes = chunking.chunk_bytes;
    estimate.blocks = bytes <= chunking.chunk_bytes ? 1 : blocks_of(course, limits);
  } else {
    time = passage_ps(course, bytes);
  }
  if (course.measured_bytes_per_second)
    time = fixed_ps(course) + moving_ps(bytes, *course.measured_bytes_per_second);
  estimate.time_ps = narrow(time);
  return estimate;
}

}  // namespace nuna::route
