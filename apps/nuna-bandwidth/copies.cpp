#include "nuna-bandwidth/copies.hpp"

#include <algorithm>
#include <array>
#include <exception>

#include "base/check.hpp"

namespace nuna_bandwidth {
namespace {

using nuna::Index;
using nuna::base::PlaceId;
using nuna::base::Ticket;
using nuna::device::After;
using nuna::device::Region;
using nuna::execute::Places;

void finish(const std::vector<Ticket>& tickets) {
  for (const Ticket& ticket : tickets) ticket.wait();
  for (const Ticket& ticket : tickets) {
    if (const auto failure = ticket.failure()) std::rethrow_exception(failure);
  }
}

// Two blocks of one leg, and who used each of them last.
struct Blocks {
  std::array<Ticket, 2> filled;
  std::array<Ticket, 2> emptied;
};

}  // namespace

Region region_of(std::byte* first, Index bytes) {
  Region region;
  region.first = first;
  region.run_bytes = bytes;
  return region;
}

void Copies::run(Scheme scheme, Index bytes, Index block_bytes) const {
  switch (scheme) {
    case Scheme::naive:
      return naive(bytes);
    case Scheme::pinned:
      return pinned(bytes);
    case Scheme::double_buffered:
      return double_buffered(bytes, block_bytes);
    case Scheme::direct:
      return direct(bytes);
    case Scheme::nuna:
      return nuna(bytes);
    case Scheme::mpi:
    case Scheme::api:
      break;
  }
  nuna::base::panic(std::string("the scheme ") + to_string(scheme) + " within a rank");
}

// A copy from or to unpinned memory blocks the program, as cudaMemcpy does.
void Copies::naive(Index bytes) const {
  std::vector<Ticket> in;
  std::vector<Ticket> out;
  in.reserve(legs_.size());
  out.reserve(legs_.size());
  for (const Leg& leg : legs_)
    in.push_back(source(leg).copy(region_of(leg.unpinned, bytes), region_of(leg.from, bytes), {}));
  finish(in);
  for (const Leg& leg : legs_)
    out.push_back(target(leg).copy(region_of(leg.to, bytes), region_of(leg.unpinned, bytes), {}));
  finish(out);
}

void Copies::pinned(Index bytes) const {
  std::vector<Ticket> in;
  std::vector<Ticket> out;
  in.reserve(legs_.size());
  out.reserve(legs_.size());
  for (const Leg& leg : legs_)
    in.push_back(source(leg).copy(region_of(leg.pinned, bytes), region_of(leg.from, bytes), {}));
  for (std::size_t l = 0; l < legs_.size(); ++l) {
    const Leg& leg = legs_[l];
    out.push_back(target(leg).copy(region_of(leg.to, bytes), region_of(leg.pinned, bytes), {&in[l], 1}));
  }
  finish(out);
}

// A queue is in order, and with two ways each serves one leg's filling and the other's emptying: so the next block is filled
// before the last one is emptied.
void Copies::double_buffered(Index bytes, Index block_bytes) const {
  const Index count = (bytes + block_bytes - 1) / block_bytes;
  std::vector<Blocks> blocks(legs_.size());
  const auto size = [&](Index i) { return std::min(block_bytes, bytes - i * block_bytes); };
  const auto fill = [&](Index i) {
    for (std::size_t l = 0; l < legs_.size(); ++l) {
      const Leg& leg = legs_[l];
      const auto b = static_cast<std::size_t>(i % 2);
      blocks[l].filled[b] =
          source(leg).copy(region_of(leg.pinned + i % 2 * block_bytes, size(i)),
                           region_of(leg.from + i * block_bytes, size(i)), {&blocks[l].emptied[b], 1});
    }
  };
  const auto empty = [&](Index i) {
    for (std::size_t l = 0; l < legs_.size(); ++l) {
      const Leg& leg = legs_[l];
      const auto b = static_cast<std::size_t>(i % 2);
      blocks[l].emptied[b] =
          target(leg).copy(region_of(leg.to + i * block_bytes, size(i)),
                           region_of(leg.pinned + i % 2 * block_bytes, size(i)), {&blocks[l].filled[b], 1});
    }
  };
  fill(0);
  for (Index i = 0; i < count; ++i) {
    if (i + 1 < count) fill(i + 1);
    empty(i);
  }
  std::vector<Ticket> last;
  for (const Blocks& b : blocks) last.insert(last.end(), b.emptied.begin(), b.emptied.end());
  finish(last);
}

void Copies::direct(Index bytes) const {
  std::vector<Ticket> tickets;
  tickets.reserve(legs_.size());
  for (const Leg& leg : legs_)
    tickets.push_back(target(leg).copy(region_of(leg.to, bytes), region_of(leg.from, bytes), {}));
  finish(tickets);
}

// What the runtime does for a copy between two places of a rank (execute/live.cpp).
Ticket Copies::nuna_copy(const Leg& leg, Index bytes) const {
  const nuna::route::Step way = mover_.way(leg.from_place, leg.to_place, bytes);
  const Index chunk = way.kind == nuna::route::Kind::staged ? way.chunk_bytes : bytes;
  std::vector<nuna::transfer::Mover::Part> parts;
  for (Index at = 0; at < bytes; at += chunk) {
    const Index size = std::min(chunk, bytes - at);
    parts.push_back({region_of(leg.to + at, size), region_of(leg.from + at, size)});
  }
  return mover_.copy(leg.to_place, leg.from_place, parts, way, {});
}

void Copies::nuna(Index bytes) const {
  std::vector<Ticket> tickets;
  tickets.reserve(legs_.size());
  for (const Leg& leg : legs_) {
    tickets.push_back(nuna_copy(leg, bytes));
  }
  finish(tickets);
}

}  // namespace nuna_bandwidth
