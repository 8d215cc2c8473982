#include "execute/users.hpp"

#include <algorithm>
#include <cstdint>

namespace nuna::execute {

using base::BoxList;
using base::ByteBox;
using base::Ticket;

namespace {

bool is_before(const Ticket& a, const Ticket& b) {
  const auto line = [](const Ticket& t) { return reinterpret_cast<std::uintptr_t>(t.line); };
  return line(a) != line(b) ? line(a) < line(b) : a.value < b.value;
}

// The list is in order. Of a line, which completes in order, only the last ticket can be order_only.
void add(Tickets& after, Ticket ticket, bool order_only) {
  ticket.order_only = order_only;
  if (ticket.done() && (order_only || ticket.failure() == nullptr)) return;
  auto at = std::lower_bound(after.begin(), after.end(), ticket, is_before);
  const bool waits_for_later = at != after.end() && at->line == ticket.line;
  if (order_only && waits_for_later) return;
  if (waits_for_later && at->value == ticket.value) {
    at->order_only = false;
    return;
  }
  if (at != after.begin()) {
    Ticket& former = *(at - 1);
    if (former.line == ticket.line && former.order_only) {
      former = ticket;
      return;
    }
  }
  after.insert(at, ticket);
}

}  // namespace

void Users::before_read(const ByteBox& box, Tickets& after) const {
  records_.for_each_meeting(box, [&](const ByteBox&, const Record& r) {
    if (r.write) execute::add(after, r.ticket, false);
  });
}

void Users::before_write(const ByteBox& box, Tickets& after) const {
  records_.for_each_meeting(box,
                            [&](const ByteBox&, const Record& r) { execute::add(after, r.ticket, true); });
}

void Users::note_read(const ByteBox& box, Ticket by) {
  if (by.done()) return;  // nobody waits for it any more
  // A lane completes in order.
  const auto is_former = [&](const Record& r) { return !r.write && r.ticket.line == by.line; };
  if (records_.replace(box, is_former, {by, false})) return;
  records_.erase_meeting_if(
      box, [&](const ByteBox& b, const Record& r) { return is_former(r) && box.contains(b); });
  add(box, {by, false});
}

// Of what a failed write has left, `box` is written anew.
void Users::note_write(const ByteBox& box, Ticket by) {
  struct Rest {
    ByteBox box;
    Record record;
  };
  std::vector<Rest> rest;
  records_.erase_meeting_if(box, [&](const ByteBox& b, const Record& r) {
    if (box.contains(b)) return r.ticket != by;
    if (!r.write || !r.ticket.done() || !r.ticket.failure()) return false;
    BoxList left{b};
    base::subtract(left, box);
    for (const ByteBox& piece : left) rest.push_back({piece, r});
    return true;
  });
  for (const Rest& r : rest) records_.insert(r.box, r.record);
  if (!by.done() || by.failure()) add(box, {by, true});
}

// What is done orders nobody any more; a failed write is still news to those who read.
void Users::add(const ByteBox& box, const Record& record) {
  if (records_.size() >= prune_at_) {
    records_.erase_if(
        [](const ByteBox&, const Record& r) { return r.ticket.done() && !(r.write && r.ticket.failure()); });
    prune_at_ = std::max(kMany, 2 * records_.size());
  }
  if (!box.empty()) records_.insert(box, record);
}

bool Users::idle() const {
  if (records_.size() > kMany) return false;
  bool idle = true;
  records_.for_each([&](const ByteBox&, const Record& r) {
    idle = idle && r.ticket.done() && !(r.write && r.ticket.failure());
  });
  return idle;
}

void Users::wait() const {
  for_each([](const ByteBox&, const Ticket& ticket, bool) { ticket.wait(); });
}

}  // namespace nuna::execute
