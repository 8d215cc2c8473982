#pragma once
// Courses: how each kind of route would run between two memories, whatever is moved on it. Pure; the inner half of route.hpp.
//
// A course is looked up once; its time and chunk for a number of bytes are arithmetic (estimate). Threads: values and pure
// functions. Failure: none; what cannot be says why in `obstacle`.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nuna/box.hpp"
#include "route/route.hpp"

namespace nuna::route {

/// One copy or message: each chunk costs the fixed part, then its bytes at the rate.
struct Stage {
  std::int64_t fixed_ps = 0;
  std::int64_t bytes_per_second = 1;
};

struct Course {
  Kind kind = Kind::direct;
  std::string obstacle;  ///< why it is not possible; empty if it is
  std::string reason;    ///< what makes it possible and bounds its speed
  std::vector<Stage> stages;
  bool chunked = false;        ///< the stages overlap, chunk by chunk
  bool needs_one_run = false;  ///< both ends must be contiguous
  std::optional<std::int64_t> measured_bytes_per_second;
};

/// All kinds, in the order of Kind.
std::vector<Course> courses(const topology::Machine& machine, const Findings& findings, const Ends& ends,
                            const Limits& limits);

struct Estimate {
  std::int64_t time_ps = 0;
  Index chunk_bytes = 0;
  int blocks = 0;
};
/// For a course without obstacle. Times beyond 2^63 picoseconds are that.
Estimate estimate(const Course& course, Index bytes, const Limits& limits);

}  // namespace nuna::route
