#pragma once
// Memories without devices: what a sequence of instructions does to the places of several ranks, byte by byte.
//
// A byte in a place holds a version: the number of the call that wrote it there, and which byte it is. So bytes that
// arrive in the wrong place, in the wrong order or too late are seen, and reading what is stale is.

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "plan/instruction.hpp"
#include "property/generate.hpp"

namespace nuna::property {

struct Version {
  std::int64_t call = -1;  ///< -1: poison, or never written
  Index byte = 0;
  friend bool operator==(const Version&, const Version&) = default;
};

class PlaceMemories {
 public:
  PlaceMemories(int ranks, int places, const std::vector<base::Shape>& buffers);

  Version& at(int rank, int place, int buffer, Index byte);
  /// The newest version of a byte, wherever it is.
  Version& newest(int buffer, Index byte) {
    return newest_[static_cast<std::size_t>(buffer)][static_cast<std::size_t>(byte)];
  }
  const base::Shape& shape(int buffer) const { return buffers_[static_cast<std::size_t>(buffer)]; }
  int buffers() const { return static_cast<int>(buffers_.size()); }

  /// Carries out the ranks' plans of call number `call`: each rank's in order, messages between them. `buffer_of` tells the
  /// buffer of each argument. Throws Mismatch for what goes wrong.
  void perform(std::int64_t call, const std::vector<plan::PlacePlanRef>& plans,
               const std::vector<int>& buffer_of);

 private:
  using Packet = std::vector<Version>;

  bool step(std::int64_t call, int rank, const plan::Instruction& step, const std::vector<int>& buffer_of);
  bool receive(int rank, const plan::Instruction& step, const std::vector<int>& buffer_of);
  void run(std::int64_t call, int rank, const plan::Instruction& step, const std::vector<int>& buffer_of);

  int places_;
  std::vector<base::Shape> buffers_;
  std::vector<std::vector<std::vector<Version>>> memory_;  // by rank * places + place, buffer, byte
  std::vector<std::vector<Version>> newest_;
  std::vector<std::pair<std::pair<int, Index>, Version>> written_;  // by the call that is carried out
  std::map<std::pair<int, int>, std::deque<std::pair<std::uint32_t, Packet>>> wires_;
};

}  // namespace nuna::property
