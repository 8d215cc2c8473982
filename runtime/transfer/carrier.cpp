#include "transfer/carrier.hpp"

#include <utility>

#include "transfer/checked.hpp"
#include "transfer/mapped.hpp"
#include "transfer/pipelined.hpp"

namespace nuna::transfer {

using cluster::Envelope;
using route::Kind;

namespace {

// A message that is sent nowhere.
class Lost final : public cluster::Sending {
 public:
  bool test() override { return true; }
};

}  // namespace

bool Carrier::injected(const route::Step& way, base::Fault fault) const {
  return config_.injection.has(takes_pieces(way) ? to_string(way.kind) : "packed", fault);
}

std::unique_ptr<cluster::Sending> Carrier::sent(base::RankId to, const Envelope& envelope,
                                                const Pieces& pieces, const route::Step& way) {
  if (way.kind == Kind::mapped) return send_mapped(communicator_, to, envelope, pieces, config_.bases);
  if (way.kind == Kind::pipelined)
    return send_pipelined(communicator_, to, envelope, pieces, way, staging_, config_.injection, work_);
  if (injected(way, base::Fault::lost)) return std::make_unique<Lost>();
  return communicator_.send(to, envelope, one_run(pieces));
}

std::unique_ptr<cluster::Receive> Carrier::received(base::RankId from, const Envelope& expected,
                                                    const Pieces& pieces, const route::Step& way) {
  if (way.kind == Kind::mapped)
    return receive_mapped(communicator_, from, expected, pieces, neighbours_->memory(from), work_);
  if (way.kind == Kind::pipelined)
    return receive_pipelined(communicator_, from, expected, pieces, way, staging_, work_);
  return communicator_.receive(from, expected, one_run(pieces));
}

std::unique_ptr<cluster::Sending> Carrier::send(base::RankId to, const Envelope& envelope,
                                                const Pieces& pieces, const route::Step& way) {
  auto sending = sent(to, envelope, pieces, way);
  if (!config_.check) return sending;
  return with_sum(std::move(sending), communicator_, to, envelope, pieces, injected(way, base::Fault::wrong));
}

std::unique_ptr<cluster::Receive> Carrier::receive(base::RankId from, const Envelope& expected,
                                                   const Pieces& pieces, const route::Step& way) {
  auto receive = received(from, expected, pieces, way);
  if (!config_.check) return receive;
  return with_sum(std::move(receive), communicator_, from, expected, pieces);
}

}  // namespace nuna::transfer
