#include "cluster/mpi/farewell.hpp"

#include <algorithm>
#include <string>
#include <thread>
#include <utility>

#include "base/log.hpp"
#include "cluster/mpi/clock_bounds.hpp"
#include "cluster/mpi/session.hpp"
#include "nuna/error.hpp"

namespace nuna::cluster::mpi {
namespace {

using Clock = std::chrono::steady_clock;

// What rank 0 may ask for.
constexpr std::int64_t kClock = 1;
constexpr std::int64_t kSize = 2;
constexpr std::int64_t kBytes = 3;
constexpr std::int64_t kTaken = 4;
constexpr std::int64_t kApart = 5;
constexpr std::int64_t kLost = 6;  // apart, because a rank is lost: MPI_Finalize would wait for it

constexpr int kTag = 1;
constexpr int kClockRounds = 32;
constexpr std::size_t kPieceBytes = std::size_t{1} << 30;
constexpr std::chrono::seconds kAskAfter{1};
constexpr std::chrono::milliseconds kAskLimit{500};

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count();
}

}  // namespace

Farewell::Farewell(MPI_Comm comm, std::vector<Address> addresses, std::uint64_t context)
    : comm_(comm), addresses_(std::move(addresses)), context_(context), lost_(addresses_.size()) {
  MPI_Comm_rank(comm_, &rank_);
}

Farewell::Gift Farewell::take(int from, std::size_t most_bytes) {
  ClockBounds clock;
  for (int i = 0; i < kClockRounds; ++i) {
    const std::int64_t before = now_ns();
    const std::int64_t theirs = ask(from, kClock);
    clock.add(before, theirs, now_ns());
  }
  const auto bytes = static_cast<std::size_t>(ask(from, kSize));
  if (bytes > most_bytes) {
    throw Error(ErrorCode::out_of_memory, name_of(from) + " has " + std::to_string(bytes) + " bytes where " +
                                              std::to_string(most_bytes) + " are left");
  }
  Gift gift{std::vector<std::byte>(bytes), clock.ahead_ns()};
  tell(from, &kBytes, sizeof kBytes);
  hear(from, gift.bytes.data(), bytes);
  return gift;
}

void Farewell::dismiss(bool taken) {
  const bool lost = std::find(lost_.begin(), lost_.end(), true) != lost_.end();
  const std::int64_t last_word = taken ? kTaken : lost ? kLost : kApart;
  for (int r = 1; r < size(); ++r) {
    if (lost_[static_cast<std::size_t>(r)]) continue;
    try {
      tell(r, &last_word, sizeof last_word);
    } catch (const Error& e) {
      base::log(base::LogLevel::warn, "cluster", base::RankId{rank_}, e.what());
    }
  }
}

bool Farewell::give(std::span<const std::byte> bytes) {
  for (;;) {
    std::int64_t wish = 0;
    hear(0, &wish, sizeof wish);
    if (wish == kLost) give_up();
    if (wish == kTaken || wish == kApart || wish == kLost) return wish == kTaken;
    if (wish == kBytes) {
      tell(0, bytes.data(), bytes.size());
      continue;
    }
    said_ = wish == kClock ? now_ns() : static_cast<std::int64_t>(bytes.size());
    tell(0, &said_, sizeof said_);
  }
}

std::int64_t Farewell::ask(int from, std::int64_t wish) {
  said_ = wish;
  tell(from, &said_, sizeof said_);
  std::int64_t answer = 0;
  hear(from, &answer, sizeof answer);
  return answer;
}

void Farewell::tell(int to, const void* what, std::size_t bytes) {
  Requests requests;
  for_each_piece(bytes, kPieceBytes, [&](std::size_t at, int size) {
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Isend(static_cast<const std::byte*>(what) + at, size, MPI_BYTE, to, kTag, comm_, &request),
          "say farewell");
    requests.add(request);
  });
  finish(requests, to, false);
}

void Farewell::hear(int from, void* what, std::size_t bytes) {
  Requests requests;
  for_each_piece(bytes, kPieceBytes, [&](std::size_t at, int size) {
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Irecv(static_cast<std::byte*>(what) + at, size, MPI_BYTE, from, kTag, comm_, &request),
          "hear a farewell");
    requests.add(request);
  });
  finish(requests, from, true);
}

void Farewell::finish(Requests& requests, int peer, bool receives) {
  const auto who = static_cast<std::size_t>(peer);
  auto looked = Clock::now();
  for (int round = 0;; ++round) {
    bool done = false;
    check(requests.test(done), "exchange farewells");
    if (done) return;
    constexpr int kYields = 1000;
    if (round < kYields) {
      std::this_thread::yield();
      continue;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    if (Clock::now() - looked < kAskAfter) continue;
    const auto answer = mpi::ask(addresses_[who], context_, kAskLimit);
    looked = Clock::now();
    if (!answer || !answer->gone) continue;
    if (receives) requests.cancel_receives();
    lost_[who] = true;
    give_up();
    throw Error(ErrorCode::stalled, name_of(peer) + " is lost (its process " +
                                        std::to_string(addresses_[who].process) + " has ended)");
  }
}

}  // namespace nuna::cluster::mpi
