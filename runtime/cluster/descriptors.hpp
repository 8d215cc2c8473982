#pragma once
// File descriptors from process to process of one node (SCM_RIGHTS over Unix datagram sockets).
//
// Each process opens a Mailslot, tells the others its name by whatever means, and gives descriptors to names. A gift carries a
// word that both sides know (a secret that travelled by the same means as the name), so nobody else's is taken.
//
// Threads: one. Ownership: descriptors that take() returns are the caller's. Failures: none is fatal: give() and take() say
// that nothing went or came.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "address/reservation.hpp"

namespace nuna::cluster {

class Mailslot {
 public:
  static constexpr std::size_t kMostFiles = 64;

  Mailslot();
  /// Empty: the system gave no socket, and nothing will come.
  const std::string& name() const { return name_; }

  enum class Given : std::uint8_t { yes, later, never };
  /// Sends descriptors with a word to the process whose mailslot has this name. `later`: its queue is full; `never`: `why`.
  static Given give(const std::string& name, std::uint64_t word, std::span<const int> files, std::string& why);

  struct Gift {
    std::uint64_t word = 0;
    std::vector<address::File> files;
  };
  /// The next gift, if one has come.
  std::optional<Gift> take() const;

 private:
  address::File socket_;
  std::string name_;
};

}  // namespace nuna::cluster
