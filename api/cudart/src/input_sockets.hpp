#pragma once
// The sockets by which other ranks of a job reach the first one, before MPI is there. Those of its node: by a name that no other job has. Those
// of other nodes: by TCP; the launcher hands on where, with a password (LauncherWords).

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace nuna::cudart {

/// Between the starts of two ranks.
inline constexpr std::chrono::seconds kLongestStart{60};

/// A descriptor that the program's own files do not come near: these get the numbers that it is used to. Children do not get it.
int moved_up(int descriptor);

/// Where the first rank takes its visitors. One thread at a time.
class InputDoors {
 public:
  /// For at most `others` ranks; `elsewhere` says that some are on other nodes.
  InputDoors(int others, bool elsewhere);
  InputDoors(const InputDoors&) = delete;
  InputDoors& operator=(const InputDoors&) = delete;

  /// Sockets that can be read when somebody comes. None: a process that the first rank has started does not take its place.
  const std::vector<int>& sockets() const { return sockets_; }
  struct Visitor {
    int socket = -1;
    std::int32_t rank = 0;
  };
  /// Who has come to sockets()[door]; socket -1 for somebody who is not of this job, or is among `known`.
  Visitor let_in(std::size_t door, const std::vector<std::int32_t>& known) const;

 private:
  std::vector<int> sockets_;
  std::string password_;
};

/// A socket to the first rank, which is on this node, or not; -1 if it has not come within kLongestStart, or cannot be reached.
int connect_to_first(std::int32_t rank, bool is_here);

}  // namespace nuna::cudart
