#pragma once
// The live executor: instructions become operations on device queues and messages on the wire.
//
// Each instruction comes after the earlier ones that touch the same bytes of the same instance (Instances' records); the
// lanes wait, the caller does not. Where the caller does, it is outside of its turn.

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "base/turn.hpp"
#include "execute/executor.hpp"
#include "execute/places.hpp"
#include "execute/wire.hpp"
#include "trace/stats.hpp"
#include "transfer/mover.hpp"

namespace nuna::execute {

struct LiveConfig {
  int ahead = 64;       ///< launches in flight before make_room() waits (NUNA_AHEAD)
  bool poison = false;  ///< fill fresh memory with NaN bytes
};

class Live final : public Executor {
 public:
  /// `wire` is null for one rank.
  Live(const LiveConfig& config, const Places& places, transfer::Mover& mover, Wire* wire, base::Turn& turn,
       trace::Stats& stats)
      : config_(config), places_(places), mover_(mover), wire_(wire), turn_(turn), stats_(stats) {}
  ~Live() override;

  void prepare(const plan::PlacePlan& plan, const Call& call) override;
  void make_room() override;
  Completion submit(const plan::PlacePlan& plan, const Call& call) override;
  std::exception_ptr lost() const override { return wire_ == nullptr ? nullptr : wire_->lost(); }
  void wait_for_host(Instances& buffer, const base::ByteBox& box, bool write) override;
  void wait_for(const Tickets& operations) override;
  void quiesce(Instances& buffer) override;
  void wait_for(Instances& buffer) override;
  std::vector<std::exception_ptr> drain() override;

 private:
  struct Flight {
    Completion completion;
    std::vector<std::unique_ptr<Packet>> packets;
  };

  void start(const plan::Instruction& step, const Call& call, Flight& flight);
  base::Ticket run(const plan::Instruction& step, const Call& call, const Tickets& after);
  base::Ticket copy(const plan::Instruction& step, const Call& call, const Tickets& after);
  void send(const plan::Instruction& step, const Call& call, Flight& flight);
  void receive(const plan::Instruction& step, const Call& call, Flight& flight);
  bool stays_in_place(const plan::Instruction& step, const Call& call, const route::Step& way) const;
  route::Step way_of(const plan::Instruction& step, const Call& call) const;
  std::unique_ptr<Packet> next_packet();
  std::uint64_t submitted() const { return landed_ + flights_.size(); }
  void land_through(std::uint64_t flight);
  void land_first();
  void wait_outside(const Tickets& tickets);

  LiveConfig config_;
  const Places& places_;
  transfer::Mover& mover_;
  Wire* wire_;
  base::Turn& turn_;
  trace::Stats& stats_;
  std::uint64_t landed_ = 0;  // flights that are over; so the first of flights_ is number landed_ + 1
  std::deque<Flight> flights_;
  std::vector<std::unique_ptr<Packet>> prepared_;  // for the messages of the plan prepared last, in reverse
  std::vector<std::exception_ptr> failures_;
};

}  // namespace nuna::execute
