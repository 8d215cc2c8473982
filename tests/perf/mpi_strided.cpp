// A strided box exchanged by two ranks: rows copied into a packet and out of one, as Nuna does, or left to a datatype of
// MPI's. No Nuna takes part: the rows are there to know, for a decision (docs/decisions/0008), and which wins is MPI's matter.
//
// Both ways receive first, then send, then wait for both. Each rank sends the box at one end of its array and receives the
// one at the other.

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "nuna/box.hpp"
#include "perf/array.hpp"
#include "perf/measure.hpp"
#include "perf/ranks.hpp"

namespace {

namespace perf = nuna::perf;
using nuna::Index;

// Rows of floats, at a distance of `row_stride` in a plane, planes at `plane_stride`.
struct Strided {
  Index planes;
  Index rows;
  Index length;
  Index row_stride;
  Index plane_stride;
  Index sent_at;
  Index received_at;

  std::size_t row_bytes() const { return static_cast<std::size_t>(length) * sizeof(float); }
  std::size_t count() const { return static_cast<std::size_t>(planes * rows * length); }
  std::size_t array() const {
    return static_cast<std::size_t>(sent_at + (planes - 1) * plane_stride + (rows - 1) * row_stride + length);
  }
  template <class Visit>
  void each_row(Index first, const Visit& visit) const {
    for (Index p = 0; p < planes; ++p) {
      for (Index r = 0; r < rows; ++r) visit(first + p * plane_stride + r * row_stride);
    }
  }
};

class Exchange {
 public:
  Exchange(const Strided& box, int rank)
      : box_(box),
        rank_(rank),
        array_(std::vector<float>(box.array()), 0),
        sent_(box.count()),
        received_(box.count()) {
    MPI_Datatype plane = MPI_DATATYPE_NULL;
    MPI_Type_vector(static_cast<int>(box.rows), static_cast<int>(box.length),
                    static_cast<int>(box.row_stride), MPI_FLOAT, &plane);
    MPI_Type_create_hvector(static_cast<int>(box.planes), 1,
                            static_cast<MPI_Aint>(box.plane_stride) * MPI_Aint{sizeof(float)}, plane, &type_);
    MPI_Type_commit(&type_);
    MPI_Type_free(&plane);
    float next = start(rank);
    box_.each_row(box_.sent_at, [&](Index row) {
      for (Index i = 0; i < box_.length; ++i) array_.get()[row + i] = next++;
    });
  }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  ~Exchange() { MPI_Type_free(&type_); }

  void packed() {
    const int count = static_cast<int>(box_.count());
    MPI_Irecv(received_.data(), count, MPI_FLOAT, 1 - rank_, 0, MPI_COMM_WORLD, requests_.data());
    float* packet = sent_.data();
    box_.each_row(box_.sent_at, [&](Index row) {
      std::memcpy(packet, array_.get() + row, box_.row_bytes());
      packet += box_.length;
    });
    MPI_Isend(sent_.data(), count, MPI_FLOAT, 1 - rank_, 0, MPI_COMM_WORLD, &requests_[1]);
    MPI_Waitall(2, requests_.data(), MPI_STATUSES_IGNORE);
    const float* unpacked = received_.data();
    box_.each_row(box_.received_at, [&](Index row) {
      std::memcpy(array_.get() + row, unpacked, box_.row_bytes());
      unpacked += box_.length;
    });
  }
  void typed() {
    float* const a = array_.get();
    MPI_Irecv(a + box_.received_at, 1, type_, 1 - rank_, 0, MPI_COMM_WORLD, requests_.data());
    MPI_Isend(a + box_.sent_at, 1, type_, 1 - rank_, 0, MPI_COMM_WORLD, &requests_[1]);
    MPI_Waitall(2, requests_.data(), MPI_STATUSES_IGNORE);
  }
  // Whether the box has come whole; it is wiped for the next time.
  bool arrived() {
    bool right = true;
    float next = start(1 - rank_);
    box_.each_row(box_.received_at, [&](Index row) {
      for (Index i = 0; i < box_.length; ++i) {
        right = right && array_.get()[row + i] == next++;
        array_.get()[row + i] = 0;
      }
    });
    return right;
  }

 private:
  static float start(int rank) { return static_cast<float>(1 + rank * (1 << 20)); }
  Strided box_;
  int rank_;
  perf::Array<float> array_;
  std::vector<float> sent_;
  std::vector<float> received_;
  std::array<MPI_Request, 2> requests_{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

perf::Sample sample(Exchange& exchange, void (Exchange::*way)()) {
  constexpr int kExchanges = 20;
  return perf::Ranks::slowest([&exchange, way] {
    return 1e6 / kExchanges * perf::seconds_of([&] {
             for (int i = 0; i < kExchanges; ++i) (exchange.*way)();
           });
  });
}

void compare(const perf::Report& report, int rank, const std::string& name, const Strided& box) {
  Exchange exchange(box, rank);
  for (const auto way : {&Exchange::packed, &Exchange::typed}) {
    (exchange.*way)();
    if (!exchange.arrived()) perf::Ranks::fail("the box arrives wrong: " + name);
  }
  report.row({name + ", packed / MPI datatype", "us", perf::Better::less, perf::kNoAim},
             sample(exchange, &Exchange::packed), sample(exchange, &Exchange::typed));
}

}  // namespace

int main(int argc, char** argv) {
  const perf::Ranks ranks(2);
  const perf::Report report(argc, argv);
  constexpr Index kPoints = 320;
  constexpr Index kRow = 328;  // 4 floats of padding at both ends
  constexpr Index kPlane = kPoints * kRow;
  constexpr Index kWidth = 4;
  compare(report, ranks.rank(), "4 planes of 320 rows, 320 floats of 328",
          {kWidth, kPoints, kPoints, kRow, kPlane, kWidth * kPlane, 0});
  compare(report, ranks.rank(), "320 x 320 rows, 4 floats of 328",
          {kPoints, kPoints, kWidth, kRow, kPlane, kPoints, 0});
  compare(report, ranks.rank(), "a plane of 320 x 320 floats in a run",
          {1, kPoints, kPoints, kPoints, kPoints * kPoints, kPoints * kPoints, 0});
  return 0;
}
