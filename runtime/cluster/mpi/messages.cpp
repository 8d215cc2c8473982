#include "cluster/mpi/messages.hpp"

#include <array>
#include <chrono>
#include <thread>

#include "cluster/mpi/session.hpp"
#include "nuna/error.hpp"

namespace nuna::cluster::mpi {
namespace {

constexpr std::size_t kMostTextBytes = 16 << 10;

}  // namespace

std::string name_of(int rank) { return "rank " + std::to_string(rank); }

void check(int result, const char* what) {
  if (result == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int size = 0;
  MPI_Error_string(result, text.data(), &size);
  throw Error(ErrorCode::input_output, std::string("MPI failed to ") + what + ": " +
                                           std::string(text.data(), static_cast<std::size_t>(size)));
}

int Requests::test(bool& done) {
  int flag = 0;
  if (statuses_.size() != requests_.size()) statuses_.resize(requests_.size());
  const int result =
      MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &flag, statuses_.data());
  done = flag != 0;
  if (result != MPI_ERR_IN_STATUS) return result;
  for (const MPI_Status& s : statuses_) {
    if (s.MPI_ERROR != MPI_SUCCESS && s.MPI_ERROR != MPI_ERR_PENDING) return s.MPI_ERROR;
  }
  return MPI_SUCCESS;
}

std::size_t Requests::received_bytes() const {
  std::size_t sum = 0;
  for (const MPI_Status& s : statuses_) {
    int count = 0;
    MPI_Get_count(&s, MPI_BYTE, &count);
    sum += static_cast<std::size_t>(count);
  }
  return sum;
}

void Requests::cancel_receives() {
  using Clock = std::chrono::steady_clock;
  for (MPI_Request& r : requests_) {
    if (r != MPI_REQUEST_NULL) MPI_Cancel(&r);
  }
  // A message that has begun cannot be cancelled, and does not end if its sender died on the way.
  constexpr std::chrono::seconds kLongest{1};
  const auto start = Clock::now();
  for (MPI_Request& r : requests_) {
    int done = r == MPI_REQUEST_NULL ? 1 : 0;
    while (done == 0 && !(given_up() && Clock::now() - start > kLongest)) {
      if (MPI_Test(&r, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) break;
      if (done == 0) std::this_thread::yield();
    }
  }
}

bool MpiSending::test() {
  bool done = false;
  check(requests_.test(done), "send a message");
  return done;
}

MpiReceive::~MpiReceive() {
  if (!over_ && usable()) requests_.cancel_receives();
}

bool MpiReceive::test() {
  if (over_) return true;
  if (!empty_) {
    bool done = false;
    if (requests_.test(done) != MPI_SUCCESS) refuse("more");
    if (!done) return false;
    const std::size_t got = requests_.received_bytes();
    if (got == into_.size()) return over_ = true;
    if (got != 0) refuse(std::to_string(got) + " bytes");
    empty_ = true;
  }
  return over_ = take_text();
}

void MpiReceive::refuse(const std::string& sent) {
  over_ = true;
  throw Error(ErrorCode::diverged, name_of(from_) + " sent " + sent + " where " + name_of(me_) + " expects " +
                                       std::to_string(into_.size()) + " bytes in " + envelope_.call +
                                       ": let every rank make the same calls");
}

bool MpiReceive::take_text() {
  int flag = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  check(MPI_Improbe(from_, kTextTag, comm_, &flag, &message, &status), "look for a failure");
  if (flag == 0) return false;
  int size = 0;
  MPI_Get_count(&status, MPI_BYTE, &size);
  std::string text(static_cast<std::size_t>(size), '\0');
  check(MPI_Mrecv(text.data(), size, MPI_BYTE, &message, MPI_STATUS_IGNORE), "receive a failure");
  envelope_.failure_code = static_cast<ErrorCode>(text.empty() ? 0 : text[0]);
  envelope_.failure = text.size() > 1 ? text.substr(1) : "an unnamed failure";
  const bool lost =
      envelope_.failure_code == ErrorCode::diverged || envelope_.failure_code == ErrorCode::stalled;
  if (lost) give_up();  // its sender knows of a rank that will not come
  return true;
}

std::string failure_text(const Envelope& envelope) {
  return std::string(1, static_cast<char>(envelope.failure_code)) +
         envelope.failure.substr(0, kMostTextBytes);
}

}  // namespace nuna::cluster::mpi
