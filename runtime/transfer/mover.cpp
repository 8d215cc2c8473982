#include "transfer/mover.hpp"

#include <algorithm>
#include <thread>

#include "base/log.hpp"
#include "base/units.hpp"
#include "nuna/error.hpp"

namespace nuna::transfer {
namespace {

using base::Fault;
using base::PlaceId;
using base::Ticket;
using device::Region;
using route::Kind;
using route::Step;
using Clock = std::chrono::steady_clock;
using Bytes = std::vector<std::byte>;

constexpr int kRounds = 3;       // of a proof; the best counts
constexpr int kSlowRounds = 12;  // of one that seems slow: on a busy machine, a few rounds in a row can be
constexpr int kSlowest = 8;      // times as long as the same bytes from the host's memory
constexpr std::chrono::milliseconds kNeverSlow{5};

Region run_of(const std::byte* first, Index bytes) {
  Region r;
  r.first = const_cast<std::byte*>(first);
  r.run_bytes = bytes;
  return r;
}

Bytes pattern(Index bytes, std::uint64_t seed) {
  Bytes all(static_cast<std::size_t>(bytes));
  for (std::byte& b : all) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    b = static_cast<std::byte>(seed >> 56);
  }
  return all;
}

// A part follows the one before it, so that the last one's ticket has the failure of any.
absl::InlinedVector<Ticket, 8> with(device::After after, const Ticket& before) {
  absl::InlinedVector<Ticket, 8> all(after.begin(), after.end());
  if (before.line != nullptr) all.push_back(before);
  return all;
}

std::string name_of(const device::Device& d) { return d.properties().name; }

}  // namespace

void Mover::prove(PlaceId from, PlaceId to) {
  if (from == to || config_.proof_bytes == 0 || proved_.contains({from, to})) return;
  for (;;) {
    const auto way = ways_.between(from, to, config_.proof_bytes);
    if (!way) {
      throw Error(ErrorCode::unsupported,
                  "no way is left on which bytes get from " + name_of(at(from)) + " to " + name_of(at(to)) +
                      ": check the machine file, NUNA_ROUTES and the warnings before this");
    }
    const std::string why = try_way(from, to, *way);
    if (why.empty()) {
      proved_.insert({from, to});
      return;
    }
    const auto next = ways_.between(from, to, config_.proof_bytes);
    base::log(base::LogLevel::warn, "route", std::nullopt,
              "copies from " + name_of(at(from)) + " to " + name_of(at(to)) + " are not " +
                  to_string(way->kind) + " but " + (next ? to_string(next->kind) : "impossible") + ": " +
                  why);
  }
}

// Empty, or why the way is not taken any more.
std::string Mover::try_way(PlaceId from, PlaceId to, const Step& way) {
  const Interval bytes{0, config_.proof_bytes};
  try {
    at(from).commit(bytes);
    at(to).commit(bytes);
  } catch (const Error&) {
    return {};  // no memory for a proof: the copies themselves will say so, if there is none for them
  }
  bool arrived = true;
  std::string why = measure(from, to, way, arrived);
  if (!arrived) return why;  // it may still come: its pages stay
  at(from).release(bytes);
  at(to).release(bytes);
  return why;
}

std::string Mover::measure(PlaceId from, PlaceId to, const Step& way, bool& arrived) {
  const Index size = config_.proof_bytes;
  const Bytes sent = pattern(size, 0x5eed + static_cast<std::uint64_t>(from.value));
  Bytes got = pattern(size, 1);
  const Region source = run_of(at(from).base(), size);
  const Region target = run_of(at(to).base(), size);
  // A device that is lost cannot prove anything; other failures count against the way.
  std::string failed;
  const auto wait_for = [&](const Ticket& ticket) {
    ticket.wait();
    const std::exception_ptr failure = ticket.failure();
    if (failure == nullptr) return;
    try {
      std::rethrow_exception(failure);
    } catch (const Error& e) {
      if (e.code() == ErrorCode::device_lost) throw;
      failed = e.what();
    }
  };
  wait_for(at(from).copy(source, run_of(sent.data(), size), {}));
  const auto time = [&](auto copy) {
    const auto start = Clock::now();
    const bool done = copy();
    return done ? Clock::now() - start : Clock::duration::max();
  };
  auto own = Clock::duration::max();
  auto best = Clock::duration::max();
  const auto slow = [&] { return best >= kNeverSlow && best >= kSlowest * own; };
  for (int round = 0; round < kRounds || (slow() && round < kSlowRounds); ++round) {
    own = std::min(own, time([&] {
                     wait_for(at(to).copy(target, run_of(got.data(), size), {}));
                     return true;
                   }));
    const std::vector<Part> whole{{target, source}};
    best = std::min(best, time([&] {
                      const Ticket ticket = copy(to, from, whole, way, {});
                      if (!arrives(ticket, way)) return false;
                      wait_for(ticket);
                      return true;
                    }));
    if (best == Clock::duration::max()) {
      ways_.refuse(from, to, way.kind, "nothing arrives");
      arrived = false;
      return "nothing arrived in " +
             std::to_string(std::chrono::duration_cast<std::chrono::seconds>(config_.patience).count()) +
             " s";
    }
  }
  wait_for(at(to).copy(run_of(got.data(), size), target, {}));
  if (config_.injection.has(to_string(way.kind), Fault::wrong)) got[got.size() / 3] ^= std::byte{4};
  if (!failed.empty()) {
    ways_.refuse(from, to, way.kind, failed);
    return failed;
  }
  if (got != sent) {
    ways_.refuse(from, to, way.kind, "bytes do not arrive as they were sent");
    return "a pattern did not arrive as it was sent";
  }
  if (!slow()) return {};
  const auto ns = std::max<std::int64_t>(1, std::chrono::nanoseconds(best).count());
  const std::int64_t rate = std::max<std::int64_t>(1, size * 1'000'000'000 / ns);
  ways_.measured(from, to, way.kind, rate);
  const auto next = ways_.between(from, to, size);
  if (next && next->kind == way.kind) return {};  // slow, and still the best
  return "it moved only " + base::rounded_bytes_per_second(rate);
}

// Waits for a proof, but not for ever.
bool Mover::arrives(const Ticket& ticket, const Step& way) const {
  const std::string_view kind = to_string(way.kind);
  if (config_.injection.has(kind, Fault::slow)) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const bool lost = config_.injection.has(kind, Fault::lost);
  return ticket.line->bell().wait([&] { return !lost && ticket.done(); }, config_.patience);
}

Ticket Mover::copy(PlaceId to, PlaceId from, const std::vector<Part>& parts, const Step& way,
                   device::After after) {
  if (way.kind == Kind::staged) return staged(to, from, parts, way.blocks, after);
  // The target's device, unless it is the CPU and cannot read there.
  const bool pushes = !at(from).properties().host_accessible && at(to).properties().host_accessible;
  device::Device& copier = at(pushes ? from : to);
  Ticket last;
  for (const Part& part : parts) last = copier.copy(part.to, part.from, with(after, last));
  return last;
}

// One block is filled while another is emptied. Both devices work in order, and every wait is for an earlier submission, so
// this always proceeds; the last ticket of the target's device stands for all.
Ticket Mover::staged(PlaceId to, PlaceId from, const std::vector<Part>& parts, int blocks,
                     device::After after) {
  Ticket in;
  Ticket last;
  Index whole = 0;
  for (const Part& part : parts) whole += part.to.bytes();
  for (const Part& part : parts) {
    Slot& slot = next_slot(blocks);
    const Region block = run_of(slot.block.data(), part.from.bytes());
    absl::InlinedVector<Ticket, 8> filled = with(after, in);
    Ticket former = slot.last;
    former.order_only = true;
    if (former.line != nullptr) filled.push_back(former);
    in = at(from).copy(block, part.from, filled);
    Region target = part.to;
    target.passing = whole >= device::kPassingBytes;
    last = at(to).copy(target, block, with(std::span(&in, 1), last));
    slot.last = last;
  }
  return last;
}

// The next block in turn; more are taken from the pool as long as it has some and the way wants them.
Mover::Slot& Mover::next_slot(int blocks) {
  constexpr int kMostSlots = 8;
  if (slots_.empty() || (static_cast<int>(slots_.size()) < std::min(kMostSlots, 2 * blocks) &&
                         !slots_[turn_ % slots_.size()].last.done())) {
    if (Block block = staging_user_.take(static_cast<int>(slots_.size()))) {
      slots_.push_back({std::move(block), {}});
      return slots_.back();
    }
  }
  return slots_[turn_++ % slots_.size()];
}

}  // namespace nuna::transfer
