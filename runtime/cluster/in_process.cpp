#include "cluster/in_process.hpp"

#include <exception>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "cluster/gathering.hpp"
#include "cluster/mailbox.hpp"
#include "cluster/members.hpp"
#include "nuna/error.hpp"

namespace nuna::cluster {
namespace {

constexpr std::size_t kMostSpareBytes = std::size_t{256} << 20;
// Of messages that wait for their receives, from one rank to another, before the sender waits too.
constexpr std::size_t kMostKeptBytes = std::size_t{64} << 20;

std::string name_of(base::RankId rank) { return "rank " + std::to_string(rank.value); }

// Whether a rank failed because another one did not do its part.
bool misses_another(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const Error& e) {
    return e.code() == ErrorCode::diverged || e.code() == ErrorCode::stalled;
  } catch (...) {
    return false;
  }
}

std::string or_unnamed(const std::string& call) { return call.empty() ? "an unnamed call" : call; }

}  // namespace

// What all ranks share.
class InProcessCluster::Hub {
 public:
  Hub(int ranks, std::chrono::nanoseconds stall)
      : members(ranks), gathering(members, stall), pool(kMostSpareBytes) {
    for (int i = 0; i < ranks * ranks; ++i) mailboxes_.push_back(std::make_unique<Mailbox>(pool));
  }
  Mailbox& mailbox(base::RankId from, base::RankId to) {
    base::check(from != to, "a rank sends to or receives from itself");
    base::check(from.value >= 0 && to.value >= 0 && from.value < members.size() && to.value < members.size(),
                "a message to or from a rank outside its cluster");
    return *mailboxes_[static_cast<std::size_t>(from.value) * static_cast<std::size_t>(members.size()) +
                       static_cast<std::size_t>(to.value)];
  }

  Members members;
  Gathering gathering;
  MessagePool pool;

 private:
  std::vector<std::unique_ptr<Mailbox>> mailboxes_;  // by sender, then receiver
};

class InProcessCluster::PendingReceive final : public Receive {
 public:
  PendingReceive(std::shared_ptr<Hub> hub, base::RankId from, base::RankId to, const Envelope& expected,
                 std::span<std::byte> into)
      : hub_(std::move(hub)),
        mailbox_(hub_->mailbox(from, to)),
        from_(from),
        to_(to),
        call_(or_unnamed(expected.call)) {
    posted_.into = into;
    posted_.lane = expected.lane;
    const bool held_back = mailbox_.kept_bytes() > kMostKeptBytes;
    mailbox_.post(posted_);
    if (held_back) hub_->members.ring(from_);
  }
  ~PendingReceive() override { mailbox_.cancel(posted_); }
  PendingReceive(const PendingReceive&) = delete;
  PendingReceive& operator=(const PendingReceive&) = delete;

  bool test() override {
    if (arrived()) return true;
    if (!hub_->members.left(from_)) return false;
    if (arrived()) return true;  // it left after it sent
    throw Error(ErrorCode::diverged, name_of(from_) + " " + hub_->members.farewell(from_) + ", but " +
                                         name_of(to_) + " waits for a message of it in " + call_ +
                                         ": let every rank make the same calls");
  }

  const Envelope& envelope() const override {
    base::check(posted_.state.load(std::memory_order_acquire) == PostedReceive::State::arrived,
                "the envelope of a message that has not arrived");
    return posted_.envelope;
  }

 private:
  bool arrived() const {
    const auto state = posted_.state.load(std::memory_order_acquire);
    if (state == PostedReceive::State::wrong_size) throw_wrong_size();
    return state == PostedReceive::State::arrived;
  }
  [[noreturn]] void throw_wrong_size() const {
    throw Error(ErrorCode::diverged, name_of(from_) + " sent " + std::to_string(posted_.sent_bytes) +
                                         " bytes in " + or_unnamed(posted_.envelope.call) + " where " +
                                         name_of(to_) + " expects " + std::to_string(posted_.into.size()) +
                                         " bytes in " + call_ + ": let every rank make the same calls");
  }

  std::shared_ptr<Hub> hub_;
  Mailbox& mailbox_;
  const base::RankId from_;
  const base::RankId to_;
  const std::string call_;
  PostedReceive posted_;
};

// The bytes were copied; all that may keep a sender waiting is how many of them nobody has taken yet.
class InProcessCluster::PendingSend final : public Sending {
 public:
  PendingSend(std::shared_ptr<Hub> hub, base::RankId from, base::RankId to)
      : hub_(std::move(hub)), mailbox_(hub_->mailbox(from, to)), to_(to) {}
  bool test() override { return mailbox_.kept_bytes() <= kMostKeptBytes || hub_->members.left(to_); }

 private:
  std::shared_ptr<Hub> hub_;
  Mailbox& mailbox_;
  const base::RankId to_;
};

class InProcessCluster::Member final : public Communicator {
 public:
  Member(std::shared_ptr<Hub> hub, base::RankId rank) : hub_(std::move(hub)), rank_(rank) {
    hub_->members.join(rank_);
  }
  ~Member() override {
    hub_->members.set_bell(rank_, nullptr);
    hub_->members.leave(rank_);
    hub_->gathering.wake();
  }
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  base::RankId rank() const override { return rank_; }
  int size() const override { return hub_->members.size(); }

  std::unique_ptr<Sending> send(base::RankId to, const Envelope& envelope,
                                std::span<const std::byte> bytes) override {
    Mailbox& mailbox = hub_->mailbox(rank_, to);
    if (hub_->members.left(to)) {
      throw Error(ErrorCode::diverged, name_of(to) + " " + hub_->members.farewell(to) + ", but " +
                                           name_of(rank_) + " has a message for it in " +
                                           or_unnamed(envelope.call) +
                                           ": let every rank make the same calls");
    }
    hub_->members.sign(rank_);
    mailbox.send(envelope, bytes);
    hub_->members.ring(to);
    return std::make_unique<PendingSend>(hub_, rank_, to);
  }

  std::unique_ptr<Receive> receive(base::RankId from, const Envelope& expected,
                                   std::span<std::byte> into) override {
    return std::make_unique<PendingReceive>(hub_, from, rank_, expected, into);
  }

  std::vector<std::vector<std::byte>> allgather(const Envelope& envelope,
                                                std::span<const std::byte> bytes) override {
    return hub_->gathering.allgather(rank_, envelope, bytes);
  }

  void publish(const Status& status) override {
    hub_->members.publish(rank_, status);
    if (!status.left) return;
    hub_->members.leave(rank_);
    hub_->gathering.wake();
  }
  Status status_of(base::RankId rank) const override { return hub_->members.status_of(rank); }
  void note_sent(std::uint64_t sequence) override { hub_->members.note_sent(rank_, sequence); }
  void show_life() override { hub_->members.sign(rank_); }
  std::optional<std::string> difference_with(base::RankId from, const Envelope&) override {
    return hub_->members.difference(rank_, from);
  }

  void set_bell(base::Doorbell* bell) override { hub_->members.set_bell(rank_, bell); }

 private:
  std::shared_ptr<Hub> hub_;
  const base::RankId rank_;
};

InProcessCluster::InProcessCluster(int ranks, std::chrono::nanoseconds stall)
    : hub_(std::make_shared<Hub>(ranks, stall)) {}
InProcessCluster::~InProcessCluster() = default;

int InProcessCluster::size() const { return hub_->members.size(); }
std::unique_ptr<Communicator> InProcessCluster::join(base::RankId rank) {
  return std::make_unique<Member>(hub_, rank);
}
std::uint64_t InProcessCluster::left_as(base::RankId rank) const { return hub_->members.left_as(rank); }
std::size_t InProcessCluster::buffer_allocations() const { return hub_->pool.allocations(); }

void run_ranks(int ranks, const RankBody& body, std::chrono::nanoseconds stall) {
  InProcessCluster cluster(ranks, stall);
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(cluster.size()));
  {
    std::vector<std::jthread> threads;
    std::vector<std::unique_ptr<Communicator>>
        seats;  // if a thread cannot be started, the others see its rank leave
    seats.reserve(failures.size());
    for (int r = 0; r < ranks; ++r) seats.push_back(cluster.join({r}));
    for (int r = 0; r < ranks; ++r) {
      const auto index = static_cast<std::size_t>(r);
      threads.emplace_back([&body, &failure = failures[index], r, seat = std::move(seats[index])]() mutable {
        try {
          body({r}, std::move(seat));
        } catch (...) {
          failure = std::current_exception();
        }
        seat.reset();
      });
    }
  }
  // The cause comes before its consequences: ranks that miss another, and those that left later.
  std::optional<std::pair<bool, std::uint64_t>> order;
  std::exception_ptr cause;
  for (int r = 0; r < ranks; ++r) {
    const std::exception_ptr& failure = failures[static_cast<std::size_t>(r)];
    if (failure == nullptr) continue;
    const std::pair own(misses_another(failure), cluster.left_as({r}));
    if (order && *order <= own) continue;
    order = own;
    cause = failure;
  }
  if (cause != nullptr) std::rethrow_exception(cause);
}

}  // namespace nuna::cluster
