#include "transfer/pipelined.hpp"

#include <algorithm>
#include <deque>
#include <span>
#include <utility>

#include "transfer/lane.hpp"

namespace nuna::transfer {
namespace {

using cluster::Envelope;

constexpr std::size_t kMostOnTheirWay = 8;  // chunks that are sent or received where they lie

// What both ends have in common: the chunks, one after another, and what they pass through.
template <class Passage>
class Pipeline {
 public:
  Pipeline(Pieces pieces, const route::Step& way, Staging& staging, std::uint64_t& work)
      : pieces_(std::move(pieces)),
        bytes_(transfer::bytes_of(pieces_)),
        chunk_(std::min(way.chunk_bytes, Staging::kBlockBytes)),
        most_(static_cast<std::size_t>(std::max(1, way.blocks))),
        run_(one_run(pieces_)),
        user_(staging),
        work_(work) {}

 protected:
  struct Chunk {
    Interval part;
    Block block;  // none: where the bytes lie
    std::unique_ptr<Passage> passage;
    std::span<std::byte> bytes;
  };

  // Room for the next chunk, if there is any.
  bool next(Chunk& chunk) {
    if (begun_ == bytes_ || chunks_.size() >= (run_.empty() ? most_ : kMostOnTheirWay)) return false;
    chunk.part = {begun_, std::min(bytes_, begun_ + chunk_)};
    const auto size = static_cast<std::size_t>(chunk.part.size());
    if (!run_.empty()) {
      chunk.bytes = run_.subspan(static_cast<std::size_t>(begun_), size);
    } else {
      chunk.block = user_.take(static_cast<int>(chunks_.size()));
      if (!chunk.block) return false;
      chunk.bytes = {chunk.block.data(), size};
    }
    begun_ = chunk.part.end;
    return true;
  }
  // Forgets the oldest chunk, which has passed.
  void passed() {
    chunks_.pop_front();
    ++work_;
  }
  bool all_passed() const { return begun_ == bytes_ && chunks_.empty(); }

  const Pieces pieces_;
  const Index bytes_;
  const Index chunk_;
  const std::size_t most_;
  const std::span<std::byte> run_;
  Staging::User user_;
  std::uint64_t& work_;
  Index begun_ = 0;
  std::deque<Chunk> chunks_;
};

class PipelinedSending final : public cluster::Sending, Pipeline<cluster::Sending> {
 public:
  PipelinedSending(cluster::Communicator& communicator, base::RankId to, const Envelope& envelope, const Pieces& pieces,
                   const route::Step& way, Staging& staging, const base::Injection& injection, std::uint64_t& work)
      : Pipeline(pieces, way, staging, work),
        communicator_(communicator),
        to_(to),
        envelope_(in_lane(envelope, Lane::chunks)),
        loses_(injection.has("pipelined", base::Fault::lost)) {
    if (envelope.failure.empty()) return;
    // In place of the first chunk; no other follows.
    Chunk failure;
    failure.bytes = {};
    failure.passage = communicator_.send(to_, envelope_, failure.bytes);
    chunks_.push_back(std::move(failure));
    begun_ = bytes_;
  }

  bool test() override {
    for (bool moved = true; moved;) {
      moved = false;
      while (!chunks_.empty() && chunks_.front().passage->test()) {
        passed();
        moved = true;
      }
      Chunk chunk;
      while (next(chunk)) {
        start(std::move(chunk));
        chunk = {};
        moved = true;
      }
    }
    return all_passed();
  }

 private:
  void start(Chunk chunk) {
    if (chunk.block) pack(chunk.bytes.data(), pieces_, chunk.part);
    ++work_;
    const bool last = chunk.part.end == bytes_;
    if (loses_ && last) return;
    chunk.passage = communicator_.send(to_, envelope_, chunk.bytes);
    chunks_.push_back(std::move(chunk));
  }

  cluster::Communicator& communicator_;
  const base::RankId to_;
  const Envelope envelope_;
  const bool loses_;
};

class PipelinedReceive final : public cluster::Receive, Pipeline<cluster::Receive> {
 public:
  PipelinedReceive(cluster::Communicator& communicator, base::RankId from, const Envelope& expected, const Pieces& pieces,
                   const route::Step& way, Staging& staging, std::uint64_t& work)
      : Pipeline(pieces, way, staging, work),
        communicator_(communicator),
        from_(from),
        envelope_(expected),
        chunk_envelope_(in_lane(expected, Lane::chunks)) {
    post();
  }

  bool test() override {
    if (over_) return true;
    while (!chunks_.empty() && chunks_.front().passage->test()) {
      Chunk& first = chunks_.front();
      if (!first.passage->envelope().failure.empty()) {
        envelope_.failure = first.passage->envelope().failure;
        envelope_.failure_code = first.passage->envelope().failure_code;
        chunks_.clear();  // the others will not come
        return over_ = true;
      }
      if (first.block) unpack(pieces_, first.bytes.data(), first.part);
      passed();
      post();
    }
    return over_ = all_passed();
  }
  const Envelope& envelope() const override { return envelope_; }

 private:
  void post() {
    Chunk chunk;
    while (next(chunk)) {
      chunk.passage = communicator_.receive(from_, chunk_envelope_, chunk.bytes);
      chunks_.push_back(std::move(chunk));
      chunk = {};
    }
  }

  cluster::Communicator& communicator_;
  const base::RankId from_;
  Envelope envelope_;
  const Envelope chunk_envelope_;
  bool over_ = false;
};

}  // namespace

std::unique_ptr<cluster::Sending> send_pipelined(cluster::Communicator& communicator, base::RankId to,
                                                 const Envelope& envelope, const Pieces& pieces, const route::Step& way,
                                                 Staging& staging, const base::Injection& injection,
                                                 std::uint64_t& work) {
  return std::make_unique<PipelinedSending>(communicator, to, envelope, pieces, way, staging, injection, work);
}

std::unique_ptr<cluster::Receive> receive_pipelined(cluster::Communicator& communicator, base::RankId from,
                                                    const Envelope& expected, const Pieces& pieces,
                                                    const route::Step& way, Staging& staging, std::uint64_t& work) {
  return std::make_unique<PipelinedReceive>(communicator, from, expected, pieces, way, staging, work);
}

}  // namespace nuna::transfer
