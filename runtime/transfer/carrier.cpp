#include "transfer/carrier.hpp"

#include "transfer/mapped.hpp"
#include "transfer/pipelined.hpp"

namespace nuna::transfer {

using cluster::Envelope;
using route::Kind;

std::unique_ptr<cluster::Sending> Carrier::send(base::RankId to, const Envelope& envelope,
                                                const Pieces& pieces, const route::Step& way) {
  if (way.kind == Kind::mapped) return send_mapped(communicator_, to, envelope, pieces, config_.bases);
  if (way.kind == Kind::pipelined)
    return send_pipelined(communicator_, to, envelope, pieces, way, staging_, config_.injection, work_);
  return communicator_.send(to, envelope, one_run(pieces));
}

std::unique_ptr<cluster::Receive> Carrier::receive(base::RankId from, const Envelope& expected,
                                                   const Pieces& pieces, const route::Step& way) {
  if (way.kind == Kind::mapped)
    return receive_mapped(communicator_, from, expected, pieces, neighbours_->memory(from), work_);
  if (way.kind == Kind::pipelined)
    return receive_pipelined(communicator_, from, expected, pieces, way, staging_, work_);
  return communicator_.receive(from, expected, one_run(pieces));
}

}  // namespace nuna::transfer
