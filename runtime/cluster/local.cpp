#include "cluster/local.hpp"

#include <string>

#include "base/check.hpp"
#include "base/mutex.hpp"
#include "nuna/error.hpp"

namespace nuna::cluster {
namespace {

constexpr base::RankId kOnly{0};

class Local final : public Communicator {
 public:
  base::RankId rank() const override { return kOnly; }
  int size() const override { return 1; }

  std::unique_ptr<Sending> send(base::RankId to, const Envelope& envelope,
                                std::span<const std::byte>) override {
    base::panic("a cluster of one rank sends to rank " + std::to_string(to.value) + " in " + envelope.call);
  }
  std::unique_ptr<Receive> receive(base::RankId from, const Envelope&, std::span<std::byte>) override {
    base::panic("a cluster of one rank receives from rank " + std::to_string(from.value));
  }

  std::vector<std::vector<std::byte>> allgather(const Envelope& envelope,
                                                std::span<const std::byte> bytes) override {
    if (!envelope.failure.empty()) {
      throw Error(ErrorCode::diverged,
                  "rank 0 could not take part in " + envelope.call + ": " + envelope.failure);
    }
    return {std::vector<std::byte>(bytes.begin(), bytes.end())};
  }

  void publish(const Status& status) override {
    const base::MutexLock lock(mutex_);
    status_ = status;
  }
  Status status_of(base::RankId rank) const override {
    base::check(rank == kOnly, "a cluster of one rank is asked for another's status");
    const base::MutexLock lock(mutex_);
    return status_;
  }

  std::optional<std::string> difference_with(base::RankId, const Envelope&) override { return std::nullopt; }
  void set_bell(base::Doorbell*) override {}  // no message arrives and no peer changes

 private:
  mutable base::Mutex mutex_;
  Status status_ NUNA_GUARDED_BY(mutex_);
};

}  // namespace

std::unique_ptr<Communicator> make_local() { return std::make_unique<Local>(); }

}  // namespace nuna::cluster
