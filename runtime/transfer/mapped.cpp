#include "transfer/mapped.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "nuna/error.hpp"
#include "transfer/lane.hpp"

namespace nuna::transfer {
namespace {

using cluster::Envelope;

constexpr Index kSliceBytes = Index{1} << 20;  // copied in one test
constexpr std::int64_t kMostPieces = std::int64_t{1} << 24;

// The offsets that a piece touches.
Interval extent(const Whereabouts& w) {
  Interval all{w.offset, w.offset + w.run_bytes};
  for (std::size_t a = 0; a < 3; ++a) {
    const Index span = (w.counts[a] - 1) * w.stride_bytes[a];
    (span < 0 ? all.begin : all.end) += span;
  }
  return all;
}

// Where run `number` begins.
Index offset_of_run(const Whereabouts& w, Index number) {
  const Index inner = number % w.counts[2];
  const Index middle = number / w.counts[2] % w.counts[1];
  const Index outer = number / (w.counts[2] * w.counts[1]);
  return w.offset + outer * w.stride_bytes[0] + middle * w.stride_bytes[1] + inner * w.stride_bytes[2];
}

Index bytes_of(const Whereabouts& w) { return w.counts[0] * w.counts[1] * w.counts[2] * w.run_bytes; }

bool is_plausible(const Whereabouts& w) {
  constexpr Index kMost = Index{1} << 40;
  Index bytes = w.run_bytes;
  for (std::size_t a = 0; a < 3; ++a) {
    if (w.counts[a] < 1 || w.counts[a] > kMost || std::abs(w.stride_bytes[a]) > kMost) return false;
    if (bytes < 1 || bytes > kMost / w.counts[a]) return false;
    bytes *= w.counts[a];
  }
  return w.place >= 0 && w.offset >= 0 && extent(w).begin >= 0;
}

template <class T>
std::span<const std::byte> bytes_of_value(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

class MappedSending final : public cluster::Sending {
 public:
  MappedSending(cluster::Communicator& communicator, base::RankId to, const Envelope& envelope,
                const Pieces& pieces, const std::vector<std::byte*>& bases) {
    descriptor_.pieces = static_cast<std::int64_t>(pieces.size());
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const device::Region& region = pieces[i].region;
      const auto place = static_cast<std::size_t>(pieces[i].place.value);
      const Whereabouts where{pieces[i].place.value, region.first - bases[place], region.counts,
                              region.stride_bytes, region.run_bytes};
      if (i < Descriptor::kMost) {
        descriptor_.first[i] = where;
      } else {
        others_.push_back(where);
      }
    }
    parts_.push_back(communicator.send(to, envelope, bytes_of_value(descriptor_)));
    if (!envelope.failure.empty()) return;
    if (!others_.empty())
      parts_.push_back(
          communicator.send(to, in_lane(envelope, Lane::more), std::as_bytes(std::span(others_))));
    answer_ = communicator.receive(to, in_lane(envelope, Lane::answer), std::span(&answered_, 1));
  }

  bool test() override {
    while (!parts_.empty() && parts_.back()->test()) parts_.pop_back();
    return parts_.empty() && (answer_ == nullptr || answer_->test());
  }

 private:
  Descriptor descriptor_;
  std::vector<Whereabouts> others_;
  std::byte answered_{};
  std::vector<std::unique_ptr<cluster::Sending>> parts_;
  std::unique_ptr<cluster::Receive> answer_;
};

class MappedReceive final : public cluster::Receive {
 public:
  MappedReceive(cluster::Communicator& communicator, base::RankId from, Envelope expected, Pieces pieces,
                cluster::PeerMemory& memory, std::uint64_t& work)
      : communicator_(communicator),
        from_(from),
        expected_(std::move(expected)),
        to_(std::move(pieces)),
        bytes_(transfer::bytes_of(to_)),
        memory_(memory),
        work_(work),
        said_(communicator.receive(from, expected_, std::as_writable_bytes(std::span(&descriptor_, 1)))) {}

  bool test() override {
    if (!over_ && !hear()) return false;
    if (over_) return true;
    if (done_ < bytes_) {
      const Interval part{done_, std::min(bytes_, done_ + kSliceBytes)};
      if (!copy_mapped(part)) copy_read(part);
      done_ = part.end;
      ++work_;
      if (done_ < bytes_) return false;
    }
    if (answer_ == nullptr)
      answer_ = communicator_.send(from_, in_lane(expected_, Lane::answer), bytes_of_value(yes_));
    return over_ = answer_->test();
  }
  const Envelope& envelope() const override { return said_->envelope(); }

 private:
  // Whether it is known where the bytes lie.
  bool hear() {
    if (heard_) return true;
    if (more_ == nullptr) {
      if (!said_->test()) return false;
      if (!said_->envelope().failure.empty()) return over_ = true;
      if (said_->envelope().hash != expected_.hash || said_->envelope().message != expected_.message) {
        throw Error(ErrorCode::diverged, "rank " + std::to_string(from_.value) + " sent " +
                                             said_->envelope().call + " where " + expected_.call +
                                             " is expected: let every rank make the same calls");
      }
      check_plausible(descriptor_.pieces >= 0 && descriptor_.pieces <= kMostPieces);
      const auto pieces = static_cast<std::size_t>(descriptor_.pieces);
      sources_.assign(
          descriptor_.first.begin(),
          descriptor_.first.begin() + std::min<std::ptrdiff_t>(descriptor_.pieces, Descriptor::kMost));
      if (pieces > Descriptor::kMost) {
        sources_.resize(pieces);
        more_ = communicator_.receive(from_, in_lane(expected_, Lane::more),
                                      std::as_writable_bytes(std::span(sources_).subspan(Descriptor::kMost)));
      }
    }
    if (more_ != nullptr && !more_->test()) return false;
    Index offered = 0;
    for (const Whereabouts& w : sources_) {
      check_plausible(is_plausible(w));
      offered += bytes_of(w);
    }
    if (offered != bytes_) {
      throw Error(ErrorCode::diverged, "rank " + std::to_string(from_.value) + " offers " +
                                           std::to_string(offered) + " bytes where " +
                                           std::to_string(bytes_) + " are expected in " + expected_.call +
                                           ": let every rank make the same calls");
    }
    return heard_ = true;
  }

  // What comes from another process is not believed as it stands.
  void check_plausible(bool plausible) const {
    if (plausible) return;
    throw Error(ErrorCode::diverged, "what rank " + std::to_string(from_.value) + " says of its memory in " +
                                         expected_.call +
                                         " makes no sense: use one version of Nuna on all ranks");
  }

  bool copy_mapped(Interval part) {
    Pieces from;
    absl::InlinedVector<cluster::Lease, 4> leases;
    for (const Whereabouts& w : sources_) {
      const Interval touched = extent(w);
      leases.push_back(memory_.borrow({w.place}, touched));
      if (!leases.back()) return false;
      device::Region region;
      region.first = const_cast<std::byte*>(leases.back().first()) + (w.offset - touched.begin);
      region.counts = w.counts;
      region.stride_bytes = w.stride_bytes;
      region.run_bytes = w.run_bytes;
      from.push_back({{w.place}, region});
    }
    transfer::copy(to_, from, part);
    return true;
  }

  // Run by run, by the kernel: for memory that it does not map any more.
  void copy_read(Interval part) {
    std::vector<std::byte> buffer(static_cast<std::size_t>(part.size()));
    Index begin = 0;
    for (const Whereabouts& w : sources_) {
      const Interval mine = part.intersect({begin, begin + bytes_of(w)});
      for (Index at = mine.begin; at < mine.end;) {
        const Index inside = (at - begin) % w.run_bytes;
        const Index size = std::min(mine.end - at, w.run_bytes - inside);
        const std::span into(&buffer[static_cast<std::size_t>(at - part.begin)],
                             static_cast<std::size_t>(size));
        if (!memory_.read({w.place}, offset_of_run(w, (at - begin) / w.run_bytes) + inside, into)) {
          throw Error(ErrorCode::diverged, "rank " + std::to_string(from_.value) +
                                               " is gone while its memory is read in " + expected_.call +
                                               ": let every rank make the same calls");
        }
        at += size;
      }
      begin += bytes_of(w);
    }
    unpack(to_, buffer.data(), part);
  }

  cluster::Communicator& communicator_;
  const base::RankId from_;
  const Envelope expected_;
  const Pieces to_;
  const Index bytes_;
  cluster::PeerMemory& memory_;
  std::uint64_t& work_;
  Descriptor descriptor_;
  std::unique_ptr<cluster::Receive> said_;
  std::vector<Whereabouts> sources_;
  std::unique_ptr<cluster::Receive> more_;  // of the last of them
  Index done_ = 0;
  bool heard_ = false;
  bool over_ = false;
  std::byte yes_{1};
  std::unique_ptr<cluster::Sending> answer_;
};

}  // namespace

std::unique_ptr<cluster::Sending> send_mapped(cluster::Communicator& communicator, base::RankId to,
                                              const Envelope& envelope, const Pieces& pieces,
                                              const std::vector<std::byte*>& bases) {
  return std::make_unique<MappedSending>(communicator, to, envelope, pieces, bases);
}

std::unique_ptr<cluster::Receive> receive_mapped(cluster::Communicator& communicator, base::RankId from,
                                                 const Envelope& expected, const Pieces& pieces,
                                                 cluster::PeerMemory& memory, std::uint64_t& work) {
  return std::make_unique<MappedReceive>(communicator, from, expected, pieces, memory, work);
}

}  // namespace nuna::transfer
