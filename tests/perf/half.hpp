#pragma once
// A stencil over two ranks by hand: the array is cut in two along its slowest axis, and each rank holds its half and, at the
// seam, `radius` planes of the other's. The outermost `radius` planes of the array are never computed.
//
// A step computes the planes at the seam first and sends them while it computes the others. The halo of what is computed
// is received at the same time: nobody reads it before the next step. Where memory is what both wait for, that can be slower
// than exchanging after all is computed, so a peer is measured in the quicker of the two ways.

#include <mpi.h>

#include <array>
#include <cstddef>
#include <vector>

#include "nuna/box.hpp"
#include "perf/measure.hpp"

namespace nuna::perf {

class Half {
 public:
  Half(int rank, Index planes_of_both, Index radius)
      : upper_(rank == 1), planes_(planes_of_both / 2 + radius), radius_(radius) {}

  Index planes() const { return planes_; }                            ///< that this rank holds, halo included
  Index first() const { return upper_ ? planes_ - 2 * radius_ : 0; }  ///< the whole array's index of plane 0
  /// Those that this rank alone holds; the outermost are among them.
  Interval own() const { return upper_ ? Interval{radius_, planes_} : Interval{0, planes_ - radius_}; }

  /// Takes the quicker way from now on. `sample` makes steps and returns their time, the same on both ranks.
  void choose(const Sample& sample) {
    constexpr int kRounds = 5;
    std::array<std::vector<double>, 2> taken;
    for (int round = 0; round < 2 * kRounds; ++round) {
      overlaps_ = round % 2 == 1;
      taken[overlaps_ ? 1 : 0].push_back(sample());
    }
    overlaps_ = quartiles(taken[1]).median <= quartiles(taken[0]).median;
  }

  /// compute(begin, end, progress) computes these planes of `next`, and calls progress() now and then if that takes long:
  /// MPI moves large messages only while it is called.
  template <class T, class Compute>
  void step(T* next, Index plane_elements, const Compute& compute) const {
    const Index seam = upper_ ? radius_ : planes_ - 2 * radius_;
    const Index halo = upper_ ? 0 : planes_ - radius_;
    const int bytes = static_cast<int>(static_cast<std::size_t>(radius_ * plane_elements) * sizeof(T));
    const int other = upper_ ? 0 : 1;
    std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    const auto send = [&] {
      MPI_Isend(next + seam * plane_elements, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD, &requests[1]);
    };
    const auto progress = [&] {
      int done = 0;
      if (overlaps_) MPI_Testall(2, requests.data(), &done, MPI_STATUSES_IGNORE);
    };
    MPI_Irecv(next + halo * plane_elements, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD, requests.data());
    if (overlaps_) {
      compute(seam, seam + radius_, [] {});
      send();
      compute(upper_ ? 2 * radius_ : radius_, upper_ ? planes_ - radius_ : planes_ - 2 * radius_, progress);
    } else {
      compute(radius_, planes_ - radius_, progress);
      send();
    }
    MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
  }

 private:
  bool overlaps_ = true;
  bool upper_;
  Index planes_;
  Index radius_;
};

}  // namespace nuna::perf
