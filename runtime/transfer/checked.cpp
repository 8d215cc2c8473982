#include "transfer/checked.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "nuna/error.hpp"
#include "transfer/lane.hpp"

namespace nuna::transfer {
namespace {

// Depends on the order of the bytes as well.
std::uint64_t sum_of(const Pieces& pieces) {
  std::array<std::byte, 16384> buffer;
  const Index all = bytes_of(pieces);
  std::uint64_t sum = static_cast<std::uint64_t>(all);
  for (Index at = 0; at < all; at += static_cast<Index>(buffer.size())) {
    const Index end = std::min(all, at + static_cast<Index>(buffer.size()));
    buffer.fill(std::byte{0});
    pack(buffer.data(), pieces, {at, end});
    for (std::size_t i = 0; i < buffer.size(); i += sizeof sum) {
      std::uint64_t word = 0;
      std::memcpy(&word, &buffer[i], sizeof word);
      sum = (sum ^ word) * 0x9e3779b97f4a7c15U;
      sum ^= sum >> 29;
    }
  }
  return sum;
}

class CheckedSending final : public cluster::Sending {
 public:
  CheckedSending(std::unique_ptr<cluster::Sending> sending, cluster::Communicator& communicator,
                 base::RankId to, const cluster::Envelope& envelope, std::uint64_t sum)
      : sending_(std::move(sending)),
        sum_(sum),
        sum_sending_(
            communicator.send(to, in_lane(envelope, Lane::sum), std::as_bytes(std::span(&sum_, 1)))) {}
  bool test() override { return sending_->test() && sum_sending_->test(); }

 private:
  std::unique_ptr<cluster::Sending> sending_;
  const std::uint64_t sum_;
  std::unique_ptr<cluster::Sending> sum_sending_;
};

class CheckedReceive final : public cluster::Receive {
 public:
  CheckedReceive(std::unique_ptr<cluster::Receive> receive, cluster::Communicator& communicator,
                 base::RankId from, const cluster::Envelope& expected, Pieces pieces)
      : receive_(std::move(receive)),
        from_(from),
        call_(expected.call),
        pieces_(std::move(pieces)),
        sum_receive_(communicator.receive(from, in_lane(expected, Lane::sum),
                                          std::as_writable_bytes(std::span(&sum_, 1)))) {}
  bool test() override {
    if (over_) return true;
    if (!receive_->test()) return false;
    if (!receive_->envelope().failure.empty()) return over_ = true;
    if (!sum_receive_->test()) return false;
    if (sum_ != sum_of(pieces_)) {
      throw Error(ErrorCode::input_output,
                  "the bytes of rank " + std::to_string(from_.value) + " in " + call_ +
                      " changed on the way: use another transport, or other routes (NUNA_ROUTES)");
    }
    return over_ = true;
  }
  const cluster::Envelope& envelope() const override { return receive_->envelope(); }

 private:
  std::unique_ptr<cluster::Receive> receive_;
  const base::RankId from_;
  const std::string call_;
  const Pieces pieces_;
  std::uint64_t sum_ = 0;
  std::unique_ptr<cluster::Receive> sum_receive_;
  bool over_ = false;
};

}  // namespace

std::unique_ptr<cluster::Sending> with_sum(std::unique_ptr<cluster::Sending> sending,
                                           cluster::Communicator& communicator, base::RankId to,
                                           const cluster::Envelope& envelope, const Pieces& pieces,
                                           bool wrong) {
  if (!envelope.failure.empty()) return sending;
  return std::make_unique<CheckedSending>(std::move(sending), communicator, to, envelope,
                                          sum_of(pieces) ^ (wrong ? 1U : 0U));
}

std::unique_ptr<cluster::Receive> with_sum(std::unique_ptr<cluster::Receive> receive,
                                           cluster::Communicator& communicator, base::RankId from,
                                           const cluster::Envelope& expected, const Pieces& pieces) {
  return std::make_unique<CheckedReceive>(std::move(receive), communicator, from, expected, pieces);
}

}  // namespace nuna::transfer
