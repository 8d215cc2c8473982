#include "nuna-bandwidth/link.hpp"

#ifdef NUNA_WITH_MPI
#include <mpi.h>

#include <chrono>
#include <thread>

#include "base/units.hpp"
#include "cluster/mpi/mpi_communicator.hpp"
#include "nuna-bandwidth/scheme.hpp"
#include "nuna-bandwidth/statistics.hpp"
#endif

namespace nuna_bandwidth {

#ifdef NUNA_WITH_MPI

namespace {

using nuna::detail::RankRuntime;

constexpr int kTag = 8;
constexpr int kRoundTrips = 1001;

void finish(MPI_Request request) {
  for (int over = 0; over == 0;) {
    MPI_Test(&request, &over, MPI_STATUS_IGNORE);
    if (over == 0) std::this_thread::yield();  // the queues of the places may share this core
  }
}

// As the Context found it: the same machine, limits and switches. Only the proofs are new.
nuna::route::Findings findings_of(RankRuntime& runtime, const nuna::cluster::Neighbours& neighbours) {
  nuna::route::Findings findings;
  const nuna::topology::MemoryId here{runtime.rank(), nuna::base::kHostPlace};
  for (int r = 0; r < runtime.ranks(); ++r) {
    if (r == runtime.rank().value) continue;
    const nuna::topology::MemoryId there{{r}, nuna::base::kHostPlace};
    for (const auto& ends : {nuna::route::Ends{there, here}, nuna::route::Ends{here, there}}) {
      for (const auto& way : runtime.ways().all(ends, {1, false, false})) {
        if (!way.possible) findings.refuse(ends, way.kind, way.reason);
      }
    }
    const auto& in = neighbours.reading({r});
    const auto& out = neighbours.read_by({r});
    if (!in.good) findings.refuse({there, here}, nuna::route::Kind::mapped, in.why_not);
    if (!out.good) findings.refuse({here, there}, nuna::route::Kind::mapped, out.why_not);
  }
  return findings;
}

nuna::route::Limits limits_of(const nuna::detail::RankConfig& config) {
  nuna::route::Limits limits;
  limits.most_chunk_bytes = nuna::transfer::Staging::kBlockBytes;
  if (config.chunk_bytes > 0) limits.least_chunk_bytes = limits.most_chunk_bytes = config.chunk_bytes;
  return limits;
}

}  // namespace

Link::Link(RankRuntime& runtime) : half_round_trips_s_(static_cast<std::size_t>(runtime.ranks()), -1.0) {
  if (runtime.ranks() > 1) connect(runtime);
}

void Link::connect(RankRuntime& runtime) {
  communicator_ = nuna::cluster::mpi::make_mpi(MPI_COMM_WORLD, {.stall = runtime.config().stall});
  std::vector<std::byte*> bases;
  std::vector<int> files;
  for (int p = 0; p < runtime.slots().places(); ++p) {
    bases.push_back(runtime.slots().base({p}));
    files.push_back(runtime.slots().file({p}));
  }
  neighbours_ = std::make_unique<nuna::cluster::Neighbours>(
      *communicator_, nuna::cluster::Neighbours::Memory{bases, files, runtime.slots().slot_bytes()},
      runtime.config().injection);
  ways_ = std::make_unique<nuna::transfer::Ways>(runtime.machine(), findings_of(runtime, *neighbours_),
                                                 limits_of(runtime.config()), runtime.rank());
  staging_ = std::make_unique<nuna::transfer::Staging>(runtime.config().staging_bytes);
  carrier_ = std::make_unique<nuna::transfer::Carrier>(
      nuna::transfer::Carrier::Config{bases, runtime.config().injection}, *communicator_, neighbours_.get(),
      *staging_, *ways_);
}

std::string Link::choice(int peer, nuna::Index bytes) const {
  const nuna::route::Step way = carrier_->way_to({peer}, bytes, true);
  return words_of(way);
}

void Link::tell(int peer) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Isend(nullptr, 0, MPI_BYTE, peer, kTag, MPI_COMM_WORLD, &request);
  finish(request);
}

void Link::hear(int peer) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(nullptr, 0, MPI_BYTE, peer, kTag, MPI_COMM_WORLD, &request);
  finish(request);
}

int Link::agree(int peer, bool says, int mine) {
  MPI_Request request = MPI_REQUEST_NULL;
  int number = mine;
  if (says) {
    MPI_Isend(&number, 1, MPI_INT, peer, kTag, MPI_COMM_WORLD, &request);
  } else {
    MPI_Irecv(&number, 1, MPI_INT, peer, kTag, MPI_COMM_WORLD, &request);
  }
  finish(request);
  return number;
}

void Link::meet(int peer) {
  MPI_Request told = MPI_REQUEST_NULL;
  MPI_Isend(nullptr, 0, MPI_BYTE, peer, kTag, MPI_COMM_WORLD, &told);
  hear(peer);
  finish(told);
}

double Link::half_round_trip_s(int peer) {
  double& known = half_round_trips_s_[static_cast<std::size_t>(peer)];
  if (known >= 0.0) return known;
  const bool asks = communicator_->rank().value < peer;
  std::vector<double> samples;
  meet(peer);
  for (int i = 0; i < kRoundTrips; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    if (asks) tell(peer);
    hear(peer);
    if (!asks) tell(peer);
    samples.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  known = quartiles_of(samples).median / 2.0;
  return known;
}

#else

Link::Link(nuna::detail::RankRuntime&) {}
std::string Link::choice(int, nuna::Index) const { return {}; }
void Link::meet(int) {}
double Link::half_round_trip_s(int) { return 0.0; }
int Link::agree(int, bool, int mine) { return mine; }
void Link::tell(int) {}
void Link::hear(int) {}

#endif

}  // namespace nuna_bandwidth
