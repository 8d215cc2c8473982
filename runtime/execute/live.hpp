#pragma once
// The live executor: instructions become operations on device queues and messages on the wire.
//
// Each instruction comes after the earlier ones that touch the same bytes of the same instance (Instances' records); the
// lanes wait, the caller does not.

#include <deque>
#include <memory>
#include <vector>

#include "execute/executor.hpp"
#include "execute/places.hpp"
#include "execute/wire.hpp"
#include "trace/stats.hpp"
#include "transfer/mover.hpp"

namespace nuna::execute {

struct LiveConfig {
  int ahead = 64;       ///< launches in flight before submit() waits (NUNA_AHEAD)
  bool poison = false;  ///< fill fresh memory with NaN bytes
};

/// 0xff in every byte: a NaN as a float or double.
inline constexpr std::byte kPoison{0xff};

class Live final : public Executor {
 public:
  /// `wire` is null for one rank.
  Live(const LiveConfig& config, const Places& places, transfer::Mover& mover, Wire* wire,
       trace::Stats& stats)
      : config_(config), places_(places), mover_(mover), wire_(wire), stats_(stats) {}
  ~Live() override;

  void prepare(const plan::PlacePlan& plan, const Call& call) override;
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
  void retire(std::size_t keep);

  LiveConfig config_;
  const Places& places_;
  transfer::Mover& mover_;
  Wire* wire_;
  trace::Stats& stats_;
  std::deque<Flight> flights_;
  std::vector<std::unique_ptr<Packet>> prepared_;  // for the messages of the plan prepared last, in reverse
  std::vector<std::exception_ptr> failures_;
};

}  // namespace nuna::execute
