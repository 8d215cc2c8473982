#pragma once
// The executor boundary: what carries out a launch's instructions on one rank.
//
// Three implementations (D13): live (devices and wires), dry_run (prints, moves nothing), and virtual time (with the
// simulator). The planner and everything above do not know which.
//
// Threads: one at a time per executor, but what waits does so outside of the caller's turn (base/turn.hpp): other threads may
// make calls meanwhile, so afterwards the caller believes nothing that it knew before. Completions may be tested and waited
// for from anywhere.
// Order: instructions that touch the same bytes of the same instance take effect in the order of submission; others in any
// order.
// Failures: prepare() throws nuna::Error (out_of_memory) and may be called again; submit() carries out what
// was prepared last and does not throw. An instruction
// that fails makes those fail that read what it should have written; see Completion::failure.

#include <absl/container/inlined_vector.h>

#include <exception>
#include <memory>
#include <string_view>
#include <vector>

#include "base/timeline.hpp"
#include "cluster/communicator.hpp"
#include "execute/instances.hpp"
#include "nuna/instance.hpp"
#include "plan/instruction.hpp"

namespace nuna::execute {

/// The asynchronous end of a launch. Copyable.
struct Completion {
  absl::InlinedVector<base::Ticket, 2> tickets;

  bool done() const {
    for (const base::Ticket& t : tickets) {
      if (!t.done()) return false;
    }
    return true;
  }
  /// First for what lanes do, asleep; who waits for a message drives the wire, which the lanes need their cores for.
  void wait() const {
    for (const bool driven : {false, true}) {
      for (const base::Ticket& t : tickets) {
        if (t.line != nullptr && t.line->driven() == driven) t.wait();
      }
    }
  }
  /// Once done: the first failure, or null.
  std::exception_ptr failure() const {
    for (const base::Ticket& t : tickets) {
      if (auto f = t.failure()) return f;
    }
    return nullptr;
  }
};

/// What the instructions of one launch refer to.
struct Call {
  std::string_view name;                       ///< lives as long as the executor
  absl::InlinedVector<Instances*, 6> buffers;  ///< per argument
  detail::KernelCode code;
  detail::BlockGrid blocks;
  std::shared_ptr<const void> closure;
  bool brief = false;           ///< device::KernelCall
  plan::RankPlanRef rank_plan;  ///< what the instructions were lowered from; may be null
  cluster::Envelope envelope;   ///< filled when there are other ranks

  bool is_launch() const { return code.run != nullptr || code.part != nullptr; }
};

class Executor {
 public:
  virtual ~Executor() = default;

  /// Makes the memory usable that the instructions touch, that of their messages included.
  virtual void prepare(const plan::PlacePlan& plan, const Call& call) = 0;
  /// The failure after which no call makes sense, as far as it is known: a rank is lost, or made other calls. Or null.
  virtual std::exception_ptr lost() const { return nullptr; }
  /// Waits while too many launches are in flight (NUNA_AHEAD).
  virtual void make_room() = 0;
  /// Starts the instructions, in order. Never waits: between a change of states and its instructions nobody may come.
  virtual Completion submit(const plan::PlacePlan& plan, const Call& call) = 0;
  /// Waits until the host may read (or also write) `box` of the host place's instance; throws the failure of
  /// what should have produced it.
  virtual void wait_for_host(Instances& buffer, const base::ByteBox& box, bool write) = 0;
  /// Waits for operations, whether they fail or not.
  virtual void wait_for(const Tickets& operations) = 0;
  /// Waits for everything that uses the buffer, whether it fails or not.
  virtual void quiesce(Instances& buffer) = 0;
  /// Does so, and throws the failure of what the buffer holds.
  virtual void wait_for(Instances& buffer) = 0;
  /// Waits for everything submitted before; returns the failures not returned before, to whichever thread.
  virtual std::vector<std::exception_ptr> drain() = 0;
};

}  // namespace nuna::execute
