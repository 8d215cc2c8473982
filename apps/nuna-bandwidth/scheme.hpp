#pragma once
// Schemes: the ways by which a program can move bytes from one memory to another, written by hand or left to Nuna.
//
//   naive            the whole of it through unpinned host memory, one copy after the other
//   pinned           the same through a pinned buffer
//   double-buffered  through two pinned blocks, of which one is filled while the other is emptied (HPE, section 2.4)
//   direct           one copy by a device that reaches both memories
//   mpi              MPI_Isend and MPI_Irecv on the memories themselves
//   nuna             what Nuna chooses
//   api              the same through Nuna's public interface: a launch whose part needs the bytes

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "route/route.hpp"
#include "topology/machine.hpp"

namespace nuna_bandwidth {

enum class Scheme { naive, pinned, double_buffered, direct, mpi, nuna, api };
inline constexpr std::array kSchemes = {Scheme::naive,  Scheme::pinned, Scheme::double_buffered,
                                        Scheme::direct, Scheme::mpi,    Scheme::nuna,
                                        Scheme::api};
const char* to_string(Scheme scheme);
std::optional<Scheme> scheme_of(std::string_view name);
/// Whether a programmer writes it: the peers of nuna.
inline bool by_hand(Scheme scheme) { return scheme != Scheme::nuna && scheme != Scheme::api; }

/// Nuna's choice as people read it: "staged, 2 blocks of 512 KiB".
std::string words_of(const nuna::route::Step& way);

/// Two memories between which bytes are moved, one way or both ways at once.
struct Experiment {
  nuna::route::Ends ends;
  bool two_way = false;
  bool within_rank() const { return ends.from.rank == ends.to.rank; }
  friend bool operator==(const Experiment&, const Experiment&) = default;
};

/// The experiments of a machine. Of ranks: the first; of pairs of ranks: the first two of one node, and the first two of
/// different nodes, host to host and first device to first device. With `all`: every rank, and every pair of memories of every
/// pair of ranks.
std::vector<Experiment> experiments_of(const nuna::topology::Machine& machine, bool all);

/// Which schemes can be written between these memories. A host memory is not copied into other host memory first, so there is
/// nothing to stage between two of them.
std::vector<Scheme> schemes_of(const nuna::topology::Machine& machine, const Experiment& experiment);

}  // namespace nuna_bandwidth
