#include "cluster/mpi/mpi_communicator.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>
#include <utility>

#include "base/check.hpp"
#include "base/log.hpp"
#include "cluster/mpi/messages.hpp"
#include "cluster/mpi/peers.hpp"
#include "cluster/mpi/session.hpp"
#include "nuna/error.hpp"

namespace nuna::cluster::mpi {
namespace {

using Clock = std::chrono::steady_clock;

// Messages of one peer that MPI may buffer before one of them must have been taken.
constexpr std::size_t kUnconfirmedBytes = std::size_t{1} << 20;
constexpr int kUnconfirmedMessages = 64;
constexpr std::size_t kMostAsked = 32;  // peers, by a rank in a collective

// What a rank lays down first in a collective.
struct Arrival {
  std::uint64_t sequence = 0;
  std::uint64_t hash = 0;
  std::uint64_t message = 0;
  std::uint64_t bytes = 0;
  std::uint64_t failure_bytes = 0;
};

class Impl final : public MpiCommunicator {
 public:
  // The ranks introduce themselves first, so that everything after that notices a rank that is lost.
  Impl(MPI_Comm comm, const MpiConfig& config) : config_(config), journal_(std::make_shared<Journal>()) {
    MPI_Comm_rank(comm, &rank_);
    MPI_Comm_size(comm, &size_);
    const std::vector<Introduction> all = introduce(comm);
    messages_ = copy_of(comm);
    collectives_ = copy_of(comm);
    const bool farewell = std::any_of(all.begin(), all.end(), [](const auto& i) { return i.farewell; });
    if (farewell && is_world(comm))
      farewell_ = std::make_unique<Farewell>(copy_of(comm), addresses_of(all), id_);
    int* most = nullptr;
    int found = 0;
    MPI_Comm_get_attr(messages_, MPI_TAG_UB, static_cast<void*>(&most), &found);
    tags_ = found != 0 ? static_cast<std::uint64_t>(*most) : 32767;
    unconfirmed_.resize(static_cast<std::size_t>(size_));
  }
  ~Impl() override {
    peers_.reset();
    Status last = journal_->status();
    last.left = true;
    journal_->publish(last);
    if (!usable() || given_up()) return;  // with a rank lost, nothing collective may be called
    int main_thread = 0;
    MPI_Is_thread_main(&main_thread);
    if (driver_ == Driver::main_thread && main_thread == 0)
      return;  // an Event outlived the Context elsewhere
    MPI_Comm_free(&messages_);
    MPI_Comm_free(&collectives_);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  base::RankId rank() const override { return {rank_}; }
  int size() const override { return size_; }
  int core_sharers() const override { return core_sharers_; }
  std::uint64_t id() const override { return id_; }
  Driver driver() const override { return driver_; }
  std::unique_ptr<Farewell> take_farewell() override { return std::move(farewell_); }
  bool polled() const override { return true; }
  void set_bell(base::Doorbell*) override {}  // MPI rings none

  std::unique_ptr<Sending> send(base::RankId to, const Envelope& envelope,
                                std::span<const std::byte> bytes) override {
    base::check(to.value != rank_, "a rank sends to itself");
    check_usable(envelope);
    const int tag = tag_of(envelope);
    if (!envelope.failure.empty()) return send_failure(to.value, tag, envelope, bytes.size());
    auto sending = std::make_unique<MpiSending>();
    for_each_piece(bytes.size(), config_.piece_bytes, [&](std::size_t at, int size) {
      MPI_Request request = MPI_REQUEST_NULL;
      const auto start = confirms(to.value, static_cast<std::size_t>(size)) ? &MPI_Issend : &MPI_Isend;
      check(start(bytes.data() + at, size, MPI_BYTE, to.value, tag, messages_, &request), "send a message");
      sending->requests().add(request);
    });
    return sending;
  }

  std::unique_ptr<Receive> receive(base::RankId from, const Envelope& expected,
                                   std::span<std::byte> into) override {
    base::check(from.value != rank_, "a rank receives from itself");
    check_usable(expected);
    auto receive = std::make_unique<MpiReceive>(messages_, from.value, rank_, expected, into);
    for_each_piece(into.size(), config_.piece_bytes, [&](std::size_t at, int size) {
      MPI_Request request = MPI_REQUEST_NULL;
      check(MPI_Irecv(into.data() + at, size, MPI_BYTE, from.value, tag_of(expected), messages_, &request),
            "receive a message");
      receive->requests().add(request);
    });
    return receive;
  }

  std::vector<std::vector<std::byte>> allgather(const Envelope& envelope,
                                                std::span<const std::byte> bytes) override {
    check_usable(envelope);
    const Arrival mine{envelope.sequence, envelope.hash, envelope.message, bytes.size(),
                       envelope.failure.size()};
    std::vector<Arrival> arrivals(static_cast<std::size_t>(size_));
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Iallgather(&mine, sizeof mine, MPI_BYTE, arrivals.data(), sizeof mine, MPI_BYTE, collectives_,
                         &request),
          "gather");
    wait(request, envelope);
    agree(arrivals, envelope);
    if (mine.failure_bytes > 0) {
      throw Error(envelope.failure_code,
                  name_of(rank_) + " could not take part in " + envelope.call + ": " + envelope.failure);
    }
    return gather_bytes(arrivals, envelope, bytes);
  }

  void publish(const Status& status) override { journal_->publish(status); }
  void note_sent(std::uint64_t sequence) override { journal_->note_sent(sequence); }
  void show_life() override { journal_->sign(); }
  void watch(const std::atomic<std::int64_t>* busy_since) override { peers_->watch(busy_since); }
  Status status_of(base::RankId rank) const override {
    return rank.value == rank_ ? journal_->status() : peers_->status_of(rank.value);
  }

  void give_up() override { mpi::give_up(); }

  std::optional<std::string> difference_with(base::RankId from, const Envelope& expected) override {
    const auto answer = peers_->answer_of(from.value);
    if (!answer) return std::nullopt;
    const std::string waits = ", but " + name_of(rank_) + " waits for it in " + expected.call;
    std::optional<std::string> text;
    if (answer->gone) {
      text = name_of(from.value) + " is lost (its process " + std::to_string(peers_->process_of(from.value)) +
             " has ended)" + waits + others_lost(from.value);
    } else if (const auto difference = first_difference(journal_->history(), answer->history)) {
      text = to_string(*difference, rank_, from.value);
    } else if (answer->left && last_of(*answer) < expected.sequence) {
      const Called* last = answer->history.last();
      text = name_of(from.value) + " left " +
             (last == nullptr ? "before its first call" : "after " + last->call) + waits +
             ": let every rank make the same calls";
    }
    if (text) mpi::give_up();
    return text;
  }

 private:
  // A rank that ended because another one was lost is soon lost, too: who is told of it wants to hear of all.
  std::string others_lost(int known) const {
    std::string others;
    std::size_t asked = 0;
    for (int r = 0; r < size_ && asked < kMostAsked; ++r) {
      if (r == rank_ || r == known) continue;
      ++asked;
      const auto answer = peers_->ask_now(r);
      if (answer && answer->gone) others += (others.empty() ? "" : ", ") + std::to_string(r);
    }
    return others.empty() ? "" : " (lost as well: rank " + others + ")";
  }

  static std::atomic<std::uint64_t>& next_id() {
    static std::atomic<std::uint64_t> next{1};
    return next;
  }
  static void check_usable(const Envelope& envelope) {
    if (usable()) return;
    throw Error(ErrorCode::unsupported, envelope.call + " comes after MPI_Finalize: end the Contexts before");
  }
  static std::uint64_t last_of(const Answer& answer) {
    const Called* last = answer.history.last();
    return last == nullptr ? 0 : last->sequence;
  }

  // What a rank tells the others of itself at the beginning.
  struct Introduction {
    Address address;
    std::uint64_t id = 0;  // rank 0's counts
    cpu_set_t cores{};
    bool farewell = false;
  };

  static Envelope creation() {
    Envelope envelope;
    envelope.call = "the creation of a Context";
    return envelope;
  }
  static std::vector<Address> addresses_of(const std::vector<Introduction>& all) {
    std::vector<Address> addresses;
    addresses.reserve(all.size());
    for (const Introduction& each : all) addresses.push_back(each.address);
    return addresses;
  }
  static bool is_world(MPI_Comm comm) {
    int result = MPI_UNEQUAL;
    MPI_Comm_compare(comm, MPI_COMM_WORLD, &result);
    return result == MPI_IDENT || result == MPI_CONGRUENT;
  }

  MPI_Comm copy_of(MPI_Comm comm) {
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Comm_idup(comm, &copy, &request), "duplicate a communicator");
    wait(request, creation());
    MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
    return copy;
  }

  std::vector<Introduction> introduce(MPI_Comm comm) {
    Responder& responder = Responder::of_process();
    Introduction mine;
    mine.address = responder.address();
    mine.id = mine.address.token ^ (next_id().fetch_add(1) * 0x9e3779b97f4a7c15U);
    ::sched_getaffinity(0, sizeof mine.cores, &mine.cores);
    mine.farewell = config_.farewell;
    std::vector<Introduction> all(static_cast<std::size_t>(size_));
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Iallgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, comm, &request),
          "introduce the ranks");
    wait(request, creation());
    id_ = all.front().id;
    core_sharers_ = 0;
    for (const Introduction& other : all) {
      cpu_set_t common;
      CPU_AND(&common, &mine.cores, &other.cores);
      if (other.address.host == mine.address.host && CPU_COUNT(&common) > 0) ++core_sharers_;
    }
    responder.answer_for(id_, journal_);
    peers_ = std::make_unique<Peers>(rank_, addresses_of(all), id_, config_.stall);
    return all;
  }

  int tag_of(const Envelope& envelope) const {
    std::uint64_t h = (envelope.hash + envelope.message + envelope.lane) * 0x9e3779b97f4a7c15U;
    h ^= h >> 32;
    return static_cast<int>(1 + h % (tags_ - 1));
  }

  // Now and then a message must have been taken before the next ones may leave.
  bool confirms(int to, std::size_t bytes) {
    Unconfirmed& u = unconfirmed_[static_cast<std::size_t>(to)];
    u.bytes += bytes;
    if (++u.messages < kUnconfirmedMessages && u.bytes < kUnconfirmedBytes) return false;
    u = {};
    return true;
  }

  // As many pieces as the receiver waits for, all of them empty.
  std::unique_ptr<Sending> send_failure(int to, int tag, const Envelope& envelope, std::size_t bytes) {
    auto sending = std::make_unique<MpiSending>(failure_text(envelope));
    MPI_Request request = MPI_REQUEST_NULL;
    for_each_piece(bytes, config_.piece_bytes, [&](std::size_t, int) {
      check(MPI_Isend(nullptr, 0, MPI_BYTE, to, tag, messages_, &request), "send a failure");
      sending->requests().add(request);
    });
    const std::string& text = sending->text();
    check(MPI_Isend(text.data(), static_cast<int>(text.size()), MPI_BYTE, to, kTextTag, messages_, &request),
          "send a failure");
    sending->requests().add(request);
    return sending;
  }

  // Completes a collective request; asks the others what they are doing when it takes long.
  void wait(MPI_Request& request, const Envelope& envelope) {
    const auto start = Clock::now();
    auto looked = start;
    StallWatch watch(config_.stall, start, 0);
    for (int round = 0;; ++round) {
      int done = 0;
      check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "gather");
      if (done != 0) return;
      base::Doorbell::drive_all();  // others may wait for what this process has still to send
      constexpr int kYields = 1000;
      if (round < kYields) {
        std::this_thread::yield();
        continue;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(round < 2 * kYields ? 20 : 200));
      const auto now = Clock::now();
      if (now - looked < std::chrono::milliseconds(200)) continue;
      looked = now;
      show_life();
      look(envelope, start, watch);
    }
  }

  void look(const Envelope& envelope, Clock::time_point start, StallWatch& watch) {
    std::string missing;
    std::uint64_t signs = 0;
    std::size_t asked = 0;
    for (int step = 1; step < size_ && asked < kMostAsked; ++step, ++asked) {
      const base::RankId peer{(rank_ + step) % size_};
      if (peers_ == nullptr) {
        missing = "the other ranks to introduce themselves";
        break;
      }
      if (const auto difference = difference_with(peer, envelope))
        throw Error(ErrorCode::diverged, *difference);
      const Status theirs = status_of(peer);
      if (theirs.sequence >= envelope.sequence && envelope.sequence > 0) continue;
      signs += theirs.signs;
      missing += (missing.empty() ? "" : ", ") + name_of(peer.value) +
                 " (last call: " + (theirs.last_call.empty() ? "none yet" : theirs.last_call) + ")";
    }
    const auto now = Clock::now();
    const auto verdict = watch.judge(now, signs);
    if (missing.empty() || verdict == StallWatch::Verdict::fine) return;
    const std::string text = name_of(rank_) + " has waited " + waited_text(now - start) + " in " +
                             envelope.call + " for " + missing;
    if (verdict == StallWatch::Verdict::slow) {
      base::log(base::LogLevel::warn, "cluster", rank(), text);
      return;
    }
    give_up();
    throw Error(ErrorCode::stalled, text + ": let every rank make the same calls, or raise NUNA_STALL");
  }

  void agree(const std::vector<Arrival>& arrivals, const Envelope& envelope) {
    for (std::size_t r = 0; r < arrivals.size(); ++r) {
      const Arrival& a = arrivals[r];
      const Arrival& first = arrivals.front();
      if (a.sequence == first.sequence && a.hash == first.hash && a.message == first.message) continue;
      give_up();
      const int other = r == static_cast<std::size_t>(rank_) ? 0 : static_cast<int>(r);
      throw Error(ErrorCode::diverged, difference_text(other, envelope));
    }
    for (std::size_t r = 0; r < arrivals.size(); ++r) {
      if (arrivals[r].failure_bytes == 0 || static_cast<int>(r) == rank_) continue;
      throw Error(ErrorCode::diverged,
                  name_of(static_cast<int>(r)) + " could not take part in " + envelope.call);
    }
  }

  // Both are in a collective and know that they differ: the other's history says where.
  std::string difference_text(int other, const Envelope& envelope) {
    for (int attempt = 0; attempt < 20; ++attempt) {
      if (const auto answer = peers_->answer_of(other)) {
        if (const auto difference = first_difference(journal_->history(), answer->history))
          return to_string(*difference, rank_, other);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return name_of(rank_) + " is in " + envelope.call + ", and " + name_of(other) +
           " in another call: let every rank make the same calls";
  }

  std::vector<std::vector<std::byte>> gather_bytes(const std::vector<Arrival>& arrivals,
                                                   const Envelope& envelope,
                                                   std::span<const std::byte> bytes) {
    std::vector<std::vector<std::byte>> all;
    std::uint64_t largest = 0;
    for (const Arrival& a : arrivals) {
      all.emplace_back(a.bytes);
      largest = std::max(largest, a.bytes);
    }
    const std::uint64_t most =
        std::max<std::uint64_t>(1, config_.piece_bytes / static_cast<std::uint64_t>(size_));
    std::vector<int> counts(all.size());
    std::vector<int> offsets(all.size());
    std::vector<std::byte> round;
    for (std::uint64_t at = 0; at < largest; at += most) {
      const auto part = [&](std::uint64_t size) {
        return static_cast<int>(size <= at ? 0 : std::min(most, size - at));
      };
      int sum = 0;
      for (std::size_t r = 0; r < all.size(); ++r) {
        counts[r] = part(arrivals[r].bytes);
        offsets[r] = sum;
        sum += counts[r];
      }
      round.resize(static_cast<std::size_t>(sum));
      MPI_Request request = MPI_REQUEST_NULL;
      check(MPI_Iallgatherv(bytes.data() + std::min<std::uint64_t>(at, bytes.size()), part(bytes.size()),
                            MPI_BYTE, round.data(), counts.data(), offsets.data(), MPI_BYTE, collectives_,
                            &request),
            "gather");
      wait(request, envelope);
      for (std::size_t r = 0; r < all.size(); ++r) {
        if (counts[r] > 0)
          std::memcpy(all[r].data() + at, round.data() + offsets[r], static_cast<std::size_t>(counts[r]));
      }
    }
    return all;
  }

  struct Unconfirmed {
    std::size_t bytes = 0;
    int messages = 0;
  };

  const MpiConfig config_;
  MPI_Comm messages_ = MPI_COMM_NULL;
  MPI_Comm collectives_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
  int core_sharers_ = 1;
  const Driver driver_ = mpi::driver();
  std::uint64_t tags_ = 0;
  std::uint64_t id_ = 0;
  std::shared_ptr<Journal> journal_;
  std::unique_ptr<Peers> peers_;
  std::unique_ptr<Farewell> farewell_;
  std::vector<Unconfirmed> unconfirmed_;
};

}  // namespace

std::unique_ptr<MpiCommunicator> make_mpi(MPI_Comm comm, const MpiConfig& config) {
  return std::make_unique<Impl>(comm, config);
}

}  // namespace nuna::cluster::mpi
