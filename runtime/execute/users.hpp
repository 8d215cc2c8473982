#pragma once
// Users: the operations that read and write one instance, and what a new one comes after.
//
// Cost: of what touches the same bytes (base/box_table.hpp), however many others are noted. Threads: one at a time.

#include <absl/container/inlined_vector.h>

#include <cstddef>
#include <cstdint>

#include "base/box_table.hpp"
#include "base/boxes.hpp"
#include "base/timeline.hpp"

namespace nuna::execute {

using Tickets = absl::InlinedVector<base::Ticket, 6>;

class Users {
 public:
  /// Adds what an operation that reads (writes) `box` comes after to a list that was empty at first. A reader shares the fate of
  /// what it reads.
  void before_read(const base::ByteBox& box, Tickets& after) const;
  void before_write(const base::ByteBox& box, Tickets& after) const;
  /// Notes that the operation `by` reads (writes) `box`; a default ticket: it is done.
  void note_read(const base::ByteBox& box, base::Ticket by);
  void note_write(const base::ByteBox& box, base::Ticket by);
  /// Calls f(box, ticket, writes) for every operation noted, done or not.
  template <class F>
  void for_each(F f) const {
    records_.for_each([&](const base::ByteBox& box, const Record& r) { f(box, r.ticket, r.write); });
  }
  /// The same for those that meet `region`.
  template <class F>
  void for_each_meeting(const base::ByteBox& region, F f) const {
    records_.for_each_meeting(region,
                              [&](const base::ByteBox& box, const Record& r) { f(box, r.ticket, r.write); });
  }
  /// Whether all of them are done, and no bytes are left that one failed to write. No, also where they are many.
  bool idle() const;
  void wait() const;
  void clear() { records_.clear(); }

  /// How many notes the questions and notes so far have looked at.
  std::uint64_t looked_at() const { return records_.looked_at(); }

 private:
  struct Record {
    base::Ticket ticket;
    bool write = false;
  };
  static constexpr std::size_t kMany = 24;

  void add(const base::ByteBox& box, const Record& record);

  base::BoxTable<Record> records_;
  std::size_t prune_at_ = kMany;
};

}  // namespace nuna::execute
