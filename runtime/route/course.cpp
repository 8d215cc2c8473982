#include "route/course.hpp"

#include <algorithm>
#include <cstddef>

#include "base/units.hpp"

namespace nuna::route {
namespace {

using topology::Device;
using topology::Machine;
using topology::Memory;
using topology::MemoryId;
using topology::Speed;

/// What the description says about two memories and the host memories beside them.
struct Pair {
  const Machine& machine;
  Ends ends;
  const Memory& from;
  const Memory& to;
  MemoryId from_host{ends.from.rank, base::kHostPlace};
  MemoryId to_host{ends.to.rank, base::kHostPlace};
  const Device* from_device = find_device(machine, ends.from);
  const Device* to_device = find_device(machine, ends.to);
  std::optional<Speed> straight = find_speed(machine, ends.from, ends.to);
  std::optional<Speed> to_block = find_speed(machine, ends.from, from_host);  ///< into a block of host memory
  std::optional<Speed> out_block = find_speed(machine, to_host, ends.to);     ///< and out of one
  std::optional<Speed> message = find_speed(machine, from_host, to_host);

  bool one_rank() const { return ends.from.rank == ends.to.rank; }
  bool one_memory() const { return ends.from == ends.to; }
};

/// As people call it: by its device's name, where it has a device.
std::string name_of(const MemoryId& memory, const Device* device) {
  if (memory.place == base::kHostPlace) return "the host memory of rank " + std::to_string(memory.rank.value);
  return device == nullptr ? to_string(memory) : device->name;
}
std::string from_name(const Pair& pair) { return name_of(pair.ends.from, pair.from_device); }
std::string to_name(const Pair& pair) { return name_of(pair.ends.to, pair.to_device); }

const std::string& bus_name(const Pair& pair, const Device& device) {
  return pair.machine.buses[static_cast<std::size_t>(*device.bus)].name;
}

std::int64_t copy_latency_ps(const Device* device) { return device == nullptr ? 0 : device->copy_latency_ps; }

std::string at(std::int64_t bytes_per_second) {
  return ", " + base::rounded_bytes_per_second(bytes_per_second);
}

/// The slowest stage bounds a pipeline.
std::int64_t slowest(const std::vector<Stage>& stages) {
  const auto slower = [](const Stage& a, const Stage& b) { return a.bytes_per_second < b.bytes_per_second; };
  return std::min_element(stages.begin(), stages.end(), slower)->bytes_per_second;
}

std::string why_not_direct(const Pair& pair) {
  const Device* a = pair.from_device;
  const Device* b = pair.to_device;
  if (a != nullptr && b != nullptr && a->bus && b->bus) {
    if (a->bus != b->bus) return a->name + " and " + b->name + " are on different buses";
    if (!are_peers(pair.machine, *a, *b))
      return "devices on bus " + bus_name(pair, *a) + " cannot reach each other's memory";
  }
  return "no device can copy from " + from_name(pair) + " to " + to_name(pair);
}

std::string why_direct(const Pair& pair) {
  const Device* a = pair.from_device;
  const Device* b = pair.to_device;
  if (a != nullptr && b != nullptr && are_peers(pair.machine, *a, *b))
    return "peers on bus " + bus_name(pair, *a);
  for (const Device* device : {a, b}) {
    if (device != nullptr && device->bus) return "over bus " + bus_name(pair, *device);
  }
  return "a device reaches both memories";
}

Course same_memory(const Pair& pair) {
  Course course;
  if (!pair.one_memory()) {
    course.obstacle = "the ends are two memories";
    return course;
  }
  const std::int64_t rate = pair.from.copy_bytes_per_second;
  course.stages = {{copy_latency_ps(pair.from_device), rate}};
  course.reason = "a copy within " + from_name(pair) + at(rate);
  return course;
}

/// Why a way within a rank, between two memories, is out of the question.
std::string outside_a_rank(const Pair& pair) {
  if (!pair.one_rank()) return "only within a rank";
  return pair.one_memory() ? "both ends are one memory" : "";
}

/// A copy by whichever of the two devices is slower to begin it: the description does not say which of them copies.
Stage copy_stage(const Speed& speed, const Device* a, const Device* b) {
  return {speed.latency_ps + std::max(copy_latency_ps(a), copy_latency_ps(b)), speed.bytes_per_second};
}

Course direct(const Pair& pair) {
  Course course;
  course.obstacle = outside_a_rank(pair);
  if (course.obstacle.empty() && !pair.straight) course.obstacle = why_not_direct(pair);
  if (!course.obstacle.empty()) return course;
  course.stages = {copy_stage(*pair.straight, pair.from_device, pair.to_device)};
  course.reason = why_direct(pair) + at(pair.straight->bytes_per_second);
  return course;
}

std::string why_not_staged(const Pair& pair, const Limits& limits) {
  if (std::string outside = outside_a_rank(pair); !outside.empty()) return outside;
  if (pair.ends.from != pair.from_host && !pair.to_block)
    return "no device can copy from " + from_name(pair) + " to the host memory";
  if (pair.ends.to != pair.to_host && !pair.out_block)
    return "no device can copy from the host memory to " + to_name(pair);
  return limits.most_blocks < 1 ? "the staging pool gives no blocks" : "";
}

Course staged(const Pair& pair, const Limits& limits) {
  Course course;
  course.chunked = true;
  course.obstacle = why_not_staged(pair, limits);
  if (!course.obstacle.empty()) return course;
  // The host memory itself is staged, too, if a device cannot take it from where it lies: a core copies it.
  const Stage by_a_core{
      0, pair.ends.from == pair.from_host ? pair.from.copy_bytes_per_second : pair.to.copy_bytes_per_second};
  course.stages = {
      pair.ends.from == pair.from_host ? by_a_core : copy_stage(*pair.to_block, pair.from_device, nullptr),
      pair.ends.to == pair.to_host ? by_a_core : copy_stage(*pair.out_block, nullptr, pair.to_device)};
  course.reason = "through pinned blocks of the host memory" + at(slowest(course.stages));
  return course;
}

/// Why a way between two ranks is out of the question.
std::string outside_messages(const Pair& pair) {
  if (pair.one_rank()) return "only between ranks";
  if (pair.message) return {};
  return "rank " + std::to_string(pair.ends.from.rank.value) + " has no messages to rank " +
         std::to_string(pair.ends.to.rank.value);
}

Course mapped(const Pair& pair) {
  Course course;
  course.obstacle = outside_messages(pair);
  if (!course.obstacle.empty()) return course;
  if (!same_node(pair.machine, pair.ends.from.rank, pair.ends.to.rank)) {
    course.obstacle = "the ranks are on different nodes";
  } else if (!pair.from.host_accessible || !pair.to.host_accessible) {
    course.obstacle = "only memory that the host can reach can be mapped";
  }
  if (!course.obstacle.empty()) return course;
  // One message says that the bytes are there. The answer that they were taken travels while the receiver goes on.
  const std::int64_t rate = std::min(pair.from.copy_bytes_per_second, pair.to.copy_bytes_per_second);
  course.stages = {{pair.message->latency_ps + pair.message->latency_ps / 8, rate}};
  course.reason = "ranks of one node, the receiver's core copies" + at(rate);
  return course;
}

Course in_place(const Pair& pair) {
  Course course;
  course.needs_one_run = true;
  course.obstacle = outside_messages(pair);
  if (!course.obstacle.empty()) return course;
  if (!pair.from.host_accessible) course.obstacle = "MPI cannot reach the memory of " + from_name(pair);
  if (!pair.to.host_accessible) course.obstacle = "MPI cannot reach the memory of " + to_name(pair);
  if (!course.obstacle.empty()) return course;
  course.stages = {{pair.message->latency_ps, pair.message->bytes_per_second}};
  course.reason = "one message between the memories themselves" + at(pair.message->bytes_per_second);
  return course;
}

/// Between a memory and packets in the host memory beside it; nothing if no device can copy there.
std::optional<Stage> packing(const Memory& memory, const Device* device, const std::optional<Speed>& link) {
  const std::int64_t rate = memory.copy_bytes_per_second;
  if (link) return copy_stage({std::min(rate, link->bytes_per_second), link->latency_ps}, device, nullptr);
  if (memory.host_accessible) return Stage{copy_latency_ps(device), rate};
  return std::nullopt;
}

/// packed and pipelined: the same stages, one after the other or overlapping.
Course through_packets(const Pair& pair, const Limits& limits, bool chunked) {
  Course course;
  course.chunked = chunked;
  course.obstacle = outside_messages(pair);
  if (!course.obstacle.empty()) return course;
  const std::optional<Stage> pack = packing(pair.from, pair.from_device, pair.to_block);
  const std::optional<Stage> unpack = packing(pair.to, pair.to_device, pair.out_block);
  if (!pack) {
    course.obstacle = "no device can copy from " + from_name(pair) + " to its host memory";
  } else if (!unpack) {
    course.obstacle = "no device can copy from its host memory to " + to_name(pair);
  } else if (chunked && limits.most_blocks < 1) {
    course.obstacle = "the staging pool gives no blocks";
  }
  if (!course.obstacle.empty()) return course;
  course.stages = {*pack, {pair.message->latency_ps, pair.message->bytes_per_second}, *unpack};
  course.reason = std::string("packed, sent and unpacked") + (chunked ? " in chunks" : " as one packet") +
                  at(slowest(course.stages));
  return course;
}

Course course_of(Kind kind, const Pair& pair, const Limits& limits) {
  switch (kind) {  // without a default, so that the compiler names a kind that is missing here
    case Kind::same_memory:
      return same_memory(pair);
    case Kind::direct:
      return direct(pair);
    case Kind::staged:
      return staged(pair, limits);
    case Kind::mapped:
      return mapped(pair);
    case Kind::in_place:
      return in_place(pair);
    case Kind::packed:
      return through_packets(pair, limits, false);
    case Kind::pipelined:
      return through_packets(pair, limits, true);
  }
  return {};
}

/// What is tried or switched off stands above what the description promises.
void apply(const Findings& findings, const Ends& ends, Course& course) {
  if (const std::string* why = findings.refused(ends, course.kind)) course.obstacle = *why;
  if (const std::int64_t* rate = findings.measured(ends, course.kind); rate != nullptr) {
    course.measured_bytes_per_second = *rate;
    if (course.obstacle.empty()) course.reason += "; measured" + at(*rate);
  }
}

}  // namespace

std::vector<Course> courses(const Machine& machine, const Findings& findings, const Ends& ends,
                            const Limits& limits) {
  const Memory* from = find_memory(machine, ends.from);
  const Memory* to = find_memory(machine, ends.to);
  std::vector<Course> all(kKinds);
  if (from != nullptr && to != nullptr) {
    const Pair pair{machine, ends, *from, *to};
    for (int k = 0; k < kKinds; ++k)
      all[static_cast<std::size_t>(k)] = course_of(static_cast<Kind>(k), pair, limits);
  } else {
    const std::string missing = to_string(from == nullptr ? ends.from : ends.to) + " is not described";
    for (Course& course : all) course.obstacle = missing;
  }
  for (int k = 0; k < kKinds; ++k) {
    Course& course = all[static_cast<std::size_t>(k)];
    course.kind = static_cast<Kind>(k);
    apply(findings, ends, course);
  }
  return all;
}

}  // namespace nuna::route
