#pragma once
// MPI messages in flight: the requests of one message, a send, a receive, and how a failure travels instead of bytes.
//
// A large message is cut into pieces, alike on both sides, under one tag. A message that carries a failure is as many empty
// pieces, and the failure's text follows under kTextTag: first its ErrorCode as one byte, then the words.
//
// Threads: one at a time for each object.

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cluster/communicator.hpp"

namespace nuna::cluster::mpi {

inline constexpr int kTextTag = 0;

/// "rank 3".
std::string name_of(int rank);
/// Throws Error (input_output) with MPI's own words unless `result` is MPI_SUCCESS; `what` says what was tried.
void check(int result, const char* what);

/// Calls f(offset, bytes) for every piece of at most `piece` bytes; once for no bytes.
template <class F>
void for_each_piece(std::size_t bytes, std::size_t piece, F f) {
  std::size_t at = 0;
  do {
    const std::size_t size = std::min(piece, bytes - at);
    f(at, static_cast<int>(size));
    at += size;
  } while (at < bytes);
}

/// Requests that are over together.
class Requests {
 public:
  void add(MPI_Request request) { requests_.push_back(request); }
  /// MPI_SUCCESS or the first error; `done` when all are over.
  int test(bool& done);
  /// Of receives that are over.
  std::size_t received_bytes() const;
  /// Ends receives that nobody waits for any more, so that MPI does not touch their memory.
  void cancel_receives();

 private:
  std::vector<MPI_Request> requests_;
  std::vector<MPI_Status> statuses_;
};

class MpiSending final : public Sending {
 public:
  /// `text`: of a failure, kept until it is sent.
  explicit MpiSending(std::string text = {}) : text_(std::move(text)) {}
  Requests& requests() { return requests_; }
  const std::string& text() const { return text_; }
  bool test() override;

 private:
  std::string text_;
  Requests requests_;
};

class MpiReceive final : public Receive {
 public:
  MpiReceive(MPI_Comm comm, int from, int me, Envelope expected, std::span<std::byte> into)
      : comm_(comm), from_(from), me_(me), envelope_(std::move(expected)), into_(into) {}
  ~MpiReceive() override;
  MpiReceive(const MpiReceive&) = delete;
  MpiReceive& operator=(const MpiReceive&) = delete;
  Requests& requests() { return requests_; }

  bool test() override;
  const Envelope& envelope() const override { return envelope_; }

 private:
  bool take_text();
  [[noreturn]] void refuse(const std::string& sent);

  MPI_Comm comm_;
  const int from_;
  const int me_;
  Envelope envelope_;
  std::span<std::byte> into_;
  Requests requests_;
  bool empty_ = false;  // a failure came instead of the bytes; its text follows
  bool over_ = false;
};

/// A failure as it travels.
std::string failure_text(const Envelope& envelope);

}  // namespace nuna::cluster::mpi
