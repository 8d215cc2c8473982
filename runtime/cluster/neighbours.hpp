#pragma once
// Neighbours: which ranks of this node read each other's memory, proved and agreed (D9).
//
// Every place of a rank is a file in memory. Ranks of a node give each other the descriptors; ranks of one process use each
// other's addresses. Each pair is proved at the creation of a Context: a pattern at the beginning of the owner's places must
// arrive whole, and not much slower than from memory of one's own. All verdicts are exchanged, so both ends agree for which
// messages no bytes need be sent.
//
// Threads: creation is collective and blocking (a fraction of a millisecond for a neighbour); then one thread at a time.
// Ownership: bytes may be read between the owner's word that they are there and our word that we are done. The end of a
// Neighbours waits for who reads this rank's memory within the process.
// Failures: a pair that cannot be proved is a reason and no more; one warning per rank tells the first.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "base/injection.hpp"
#include "cluster/communicator.hpp"
#include "cluster/descriptors.hpp"
#include "cluster/peer_memory.hpp"
#include "nuna/box.hpp"

namespace nuna::cluster {

/// Bytes at the beginning of every place that belong to the proof.
inline constexpr Index kProofBytes = Index{64} << 10;

class Neighbours {
 public:
  /// This rank's places, alike in size; they stay until the end of this object.
  struct Memory {
    std::vector<std::byte*> bases;
    std::vector<int> files;  ///< descriptors, or -1
    Index bytes = 0;         ///< of each
  };
  Neighbours(Communicator& communicator, const Memory& mine, const base::Injection& injection);
  ~Neighbours();
  Neighbours(const Neighbours&) = delete;
  Neighbours& operator=(const Neighbours&) = delete;

  /// Whether one rank may read another's memory, as both of them know it.
  struct Proof {
    bool good = false;
    std::int64_t bytes_per_second = 0;  ///< measured by the reader; 0: not measured
    std::string why_not;
  };
  const Proof& reading(base::RankId owner) const { return reading_[static_cast<std::size_t>(owner.value)]; }
  const Proof& read_by(base::RankId reader) const { return read_by_[static_cast<std::size_t>(reader.value)]; }
  /// The memory of an owner whom this rank reads.
  PeerMemory& memory(base::RankId owner);

 private:
  struct Offer;
  struct Verdict;
  Offer offer(const Memory& mine, const Mailslot& mailslot);
  void exchange(const std::vector<Offer>& offers, const Memory& mine, const Mailslot& mailslot,
                const base::Injection& injection);
  void prove(const std::vector<Offer>& offers, const base::Injection& injection);
  void agree(const std::vector<Offer>& offers);

  Communicator& communicator_;
  std::shared_ptr<SharedMemory> own_;
  std::vector<Proof> reading_;                         // by owner
  std::vector<Proof> read_by_;                         // by reader
  std::vector<std::unique_ptr<PeerMemory>> memories_;  // by owner
};

}  // namespace nuna::cluster
