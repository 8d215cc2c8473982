#include "nuna-bandwidth/messages.hpp"

#include <thread>
#include <vector>

#include "nuna/error.hpp"

#ifdef NUNA_WITH_MPI

#include <mpi.h>

#include <algorithm>
#include <array>

#include "nuna-bandwidth/copies.hpp"

namespace nuna_bandwidth {
namespace {

using nuna::Index;
using nuna::base::Ticket;

constexpr int kTag = 7;

bool over(MPI_Request& request) {
  int flag = 0;
  MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  return flag != 0;
}

MPI_Request send(const std::byte* from, Index bytes, int peer) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Isend(from, static_cast<int>(bytes), MPI_BYTE, peer, kTag, MPI_COMM_WORLD, &request);
  return request;
}

MPI_Request receive(std::byte* into, Index bytes, int peer) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(into, static_cast<int>(bytes), MPI_BYTE, peer, kTag, MPI_COMM_WORLD, &request);
  return request;
}

// One message from the memory, or from a copy of the whole of it.
class WholeSender final : public Side {
 public:
  WholeSender(const End& end, std::byte* through, Index bytes)
      : end_(end), through_(through), bytes_(bytes) {}

  void start() override {
    if (through_ == end_.memory) return;
    copied_ = end_.queue->copy(region_of(through_, bytes_), region_of(end_.memory, bytes_), {});
  }
  bool step() override {
    if (!started_) {
      if (!copied_.done()) return false;
      request_ = send(through_, bytes_, end_.peer);
      started_ = true;
    }
    return over(request_);
  }

 private:
  const End end_;
  std::byte* through_;
  const Index bytes_;
  Ticket copied_;
  bool started_ = false;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

class WholeReceiver final : public Side {
 public:
  WholeReceiver(const End& end, std::byte* through, Index bytes)
      : end_(end), through_(through), bytes_(bytes) {}

  void start() override { request_ = receive(through_, bytes_, end_.peer); }
  bool step() override {
    if (!arrived_) {
      if (!over(request_)) return false;
      arrived_ = true;
      if (through_ != end_.memory)
        copied_ = end_.queue->copy(region_of(end_.memory, bytes_), region_of(through_, bytes_), {});
    }
    return copied_.done();
  }

 private:
  const End end_;
  std::byte* through_;
  const Index bytes_;
  bool arrived_ = false;
  Ticket copied_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

// A message in blocks, of which two are on their way. Where nothing is staged they are parts of the memory itself.
class Blocks {
 public:
  Blocks(const End& end, Index bytes, Index block_bytes)
      : end_(end), bytes_(bytes), block_bytes_(block_bytes) {}
  Index count() const { return (bytes_ + block_bytes_ - 1) / block_bytes_; }
  Index size(Index i) const { return std::min(block_bytes_, bytes_ - i * block_bytes_); }
  bool staged() const { return end_.queue != nullptr; }
  std::byte* part(Index i) const { return end_.memory + i * block_bytes_; }
  std::byte* block(Index i) const { return staged() ? end_.pinned + i % 2 * block_bytes_ : part(i); }
  const End& end() const { return end_; }

 private:
  const End end_;
  const Index bytes_;
  const Index block_bytes_;
};

class BlockSender final : public Side {
 public:
  explicit BlockSender(const Blocks& blocks) : blocks_(blocks) {}

  void start() override {}
  bool step() override {
    while (sent_ < sending_ && over(requests_[static_cast<std::size_t>(sent_ % 2)])) ++sent_;
    while (filling_ < blocks_.count() && filling_ < sent_ + 2) fill(filling_++);
    while (sending_ < filling_ && filled_[static_cast<std::size_t>(sending_ % 2)].done()) {
      requests_[static_cast<std::size_t>(sending_ % 2)] =
          send(blocks_.block(sending_), blocks_.size(sending_), blocks_.end().peer);
      ++sending_;
    }
    return sent_ == blocks_.count();
  }

 private:
  void fill(Index i) {
    if (!blocks_.staged()) return;
    filled_[static_cast<std::size_t>(i % 2)] = blocks_.end().queue->copy(
        region_of(blocks_.block(i), blocks_.size(i)), region_of(blocks_.part(i), blocks_.size(i)), {});
  }

  const Blocks blocks_;
  Index filling_ = 0;  // how many blocks were begun to be filled
  Index sending_ = 0;
  Index sent_ = 0;
  std::array<Ticket, 2> filled_;
  std::array<MPI_Request, 2> requests_{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
};

class BlockReceiver final : public Side {
 public:
  explicit BlockReceiver(const Blocks& blocks) : blocks_(blocks) {}

  void start() override { post(); }
  bool step() override {
    while (arrived_ < posted_ && over(requests_[static_cast<std::size_t>(arrived_ % 2)])) empty(arrived_++);
    while (emptied_ < arrived_ && empty_[static_cast<std::size_t>(emptied_ % 2)].done()) ++emptied_;
    post();
    return emptied_ == blocks_.count();
  }

 private:
  void post() {
    for (; posted_ < blocks_.count() && posted_ < emptied_ + 2; ++posted_) {
      requests_[static_cast<std::size_t>(posted_ % 2)] =
          receive(blocks_.block(posted_), blocks_.size(posted_), blocks_.end().peer);
    }
  }
  void empty(Index i) {
    if (!blocks_.staged()) return;
    empty_[static_cast<std::size_t>(i % 2)] = blocks_.end().queue->copy(
        region_of(blocks_.part(i), blocks_.size(i)), region_of(blocks_.block(i), blocks_.size(i)), {});
  }

  const Blocks blocks_;
  Index posted_ = 0;
  Index arrived_ = 0;
  Index emptied_ = 0;
  std::array<Ticket, 2> empty_;
  std::array<MPI_Request, 2> requests_{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
};

nuna::cluster::Envelope envelope_of(const End& end) {
  nuna::cluster::Envelope envelope;
  envelope.sequence = envelope.hash = end.number;
  envelope.call = "nuna-bandwidth";
  return envelope;
}

nuna::transfer::Pieces pieces_of(const End& end, Index bytes) {
  return {{end.place, region_of(end.memory, bytes)}};
}

class NunaSender final : public Side {
 public:
  NunaSender(const End& end, Index bytes) : end_(end), pieces_(pieces_of(end, bytes)) {}
  void start() override {
    sending_ = end_.carrier->send({end_.peer}, envelope_of(end_), pieces_,
                                  end_.carrier->way_to({end_.peer}, nuna::transfer::bytes_of(pieces_), true));
  }
  bool step() override { return sending_->test(); }

 private:
  const End end_;
  const nuna::transfer::Pieces pieces_;
  std::unique_ptr<nuna::cluster::Sending> sending_;
};

class NunaReceiver final : public Side {
 public:
  NunaReceiver(const End& end, Index bytes) : end_(end), pieces_(pieces_of(end, bytes)) {}
  void start() override {
    receive_ =
        end_.carrier->receive({end_.peer}, envelope_of(end_), pieces_,
                              end_.carrier->way_from({end_.peer}, nuna::transfer::bytes_of(pieces_), true));
  }
  bool step() override { return receive_->test(); }

 private:
  const End end_;
  const nuna::transfer::Pieces pieces_;
  std::unique_ptr<nuna::cluster::Receive> receive_;
};

// Where a whole message passes.
std::byte* through(Scheme scheme, const End& end) {
  if (scheme == Scheme::mpi || end.queue == nullptr) return end.memory;
  return scheme == Scheme::naive ? end.unpinned : end.pinned;
}

template <class Whole, class InBlocks, class OfNuna>
std::unique_ptr<Side> side_of(Scheme scheme, const End& end, Index bytes, Index block_bytes) {
  if (scheme == Scheme::nuna) return std::make_unique<OfNuna>(end, bytes);
  if (scheme == Scheme::double_buffered) return std::make_unique<InBlocks>(Blocks(end, bytes, block_bytes));
  return std::make_unique<Whole>(end, through(scheme, end), bytes);
}

}  // namespace

std::unique_ptr<Side> sending_side(Scheme scheme, const End& end, Index bytes, Index block_bytes) {
  return side_of<WholeSender, BlockSender, NunaSender>(scheme, end, bytes, block_bytes);
}

std::unique_ptr<Side> receiving_side(Scheme scheme, const End& end, Index bytes, Index block_bytes) {
  return side_of<WholeReceiver, BlockReceiver, NunaReceiver>(scheme, end, bytes, block_bytes);
}

}  // namespace nuna_bandwidth

#else

namespace nuna_bandwidth {
namespace {

[[noreturn]] void refuse() {
  throw nuna::Error(nuna::ErrorCode::unsupported, "messages need MPI: configure Nuna with -DNUNA_MPI=ON");
}

}  // namespace

std::unique_ptr<Side> sending_side(Scheme, const End&, nuna::Index, nuna::Index) { refuse(); }
std::unique_ptr<Side> receiving_side(Scheme, const End&, nuna::Index, nuna::Index) { refuse(); }

}  // namespace nuna_bandwidth

#endif

namespace nuna_bandwidth {

void run(const std::vector<std::unique_ptr<Side>>& sides) {
  for (const auto& side : sides) side->start();
  std::vector<bool> done(sides.size(), false);
  for (std::size_t left = sides.size(); left > 0;) {
    for (std::size_t s = 0; s < sides.size(); ++s) {
      if (done[s] || !sides[s]->step()) continue;
      done[s] = true;
      --left;
    }
    if (left > 0) std::this_thread::yield();  // the queues may share this core
  }
}

}  // namespace nuna_bandwidth
