#pragma once
// The control channel: a rank that waits too long asks another one what it is doing, without MPI (D2).
//
// MPI tells nobody that a process has died, and moves nothing while the other side is in code of its own. So every process
// has one thread that answers questions over TCP: what it last called in a Context, and whether it has left. Nobody
// connects before somebody waits for a second, so the thread sleeps in accept(2) and costs nothing; there is no mesh.
// A process that is gone refuses the connection, which is the news.
//
// Questions carry the process's random token; others are not answered.

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "cluster/mpi/journal.hpp"

namespace nuna::cluster::mpi {

/// Where a process answers. Plain bytes, to be gathered.
struct Address {
  static constexpr int kMost = 4;
  std::uint64_t token = 0;
  std::uint64_t host = 0;  ///< a hash of the host's name: equal ones talk over the loopback
  std::int32_t process = 0;
  std::uint16_t port = 0;
  std::uint16_t count = 0;
  std::array<std::uint32_t, kMost> ipv4{};  ///< in network order
};

/// What a rank answered.
struct Answer {
  History history;
  bool left = false;
  std::uint64_t signs = 0;  ///< of life
  std::uint64_t sent = 0;   ///< see Status
  bool gone = false;        ///< the process does not exist any more; nothing else is known
};

/// The thread of this process that answers. Started by the first call, lasts as long as the process.
class Responder {
 public:
  static Responder& of_process();

  const Address& address() const { return address_; }
  /// Answers for this Context from now on, also after its end, from the journal as it was left.
  void answer_for(std::uint64_t context, std::shared_ptr<const Journal> journal);

 private:
  Responder();
  void serve() const;
  void reply(int connection) const;

  struct State;
  std::shared_ptr<State> state_;
  Address address_;
};

/// Asks. Blocks for at most about `limit`; nothing when there was no answer in time, which proves nothing.
std::optional<Answer> ask(const Address& address, std::uint64_t context, std::chrono::milliseconds limit);

}  // namespace nuna::cluster::mpi
