#include "turns.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "call.hpp"
#include "host_thread.hpp"
#include "nuna/error.hpp"

namespace nuna::cudart {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::microseconds kShortestPause{50};
constexpr std::chrono::microseconds kLongestPause{2000};
constexpr std::chrono::milliseconds kLook{100};  // for an error of the device, while a call waits

thread_local bool has_turn = false;

std::uint64_t hash_of(const std::string& text) { return std::hash<std::string_view>{}(text); }

}  // namespace

Turns::Turns(Parts parts) : parts_(std::move(parts)) {}

Turns::~Turns() {
  if (thread_.joinable()) thread_.join();
}

Turns::Turn::Turn(Turns* of, Kind kind) : of_(of), kind_(kind) { has_turn = true; }
Turns::Turn::~Turn() {
  if (of_ == nullptr) return;
  has_turn = false;
  if (kind_ == Kind::free) {
    of_->pass_free();
  } else {
    of_->pass();
  }
}
Turns::Turn::Turn(Turn&& other) noexcept : of_(std::exchange(other.of_, nullptr)), kind_(other.kind_) {}

Turns::Turn Turns::take(const std::function<std::string()>& call) {
  if (has_turn) return {};
  HostThread& caller = HostThread::here();
  if (caller.is_main() && begin_free()) return {this, Turn::Kind::free};
  std::unique_lock lock(mutex_);
  if (mode_ == Mode::free) switch_over();
  const std::string what = call();
  const WaitingCall waiting{caller.next_place(), hash_of(what)};
  wait_for(waiting, what + " (call " + std::to_string(caller.calls()) + " of " + caller.name() + ")", lock);
  return {this, Turn::Kind::admitted};
}

// Ranks may agree on the call that begins here: whoever sees the count sees that the call has begun.
bool Turns::begin_free() {
  main_inside_.store(true, std::memory_order_relaxed);
  ++main_calls_;
  if (mode_ == Mode::free) return true;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return mode_ != Mode::switching; });
  if (main_calls_ <= free_calls_) return true;
  --main_calls_;
  main_inside_ = false;
  changed_.notify_all();
  return false;
}

void Turns::pass_free() noexcept {
  main_inside_ = false;
  if (mode_ == Mode::free) return;
  {
    const std::lock_guard lock(mutex_);
  }
  changed_.notify_all();
}

void Turns::end() {
  {
    std::unique_lock lock(mutex_);
    if (mode_ == Mode::free && !HostThread::any_made()) return;
    if (mode_ == Mode::free) switch_over();
    ended_ = true;
    try {
      wait_for({kEndPlace, 0}, "the end of the program", lock);
    } catch (const Refused&) {  // they have parted, and know it
    }
  }
  if (thread_.joinable()) thread_.join();
}

void Turns::switch_over() {
  const InLibrary here;
  mode_ = Mode::switching;
  thread_ = std::thread([this] { run(); });
}

void Turns::wait_for(WaitingCall call, std::string text, std::unique_lock<std::mutex>& lock) {
  waiting_.push_back({call, std::move(text)});
  changed_.notify_all();
  const auto ends = [&] { return failed_ || is_next(call.place); };
  while (!changed_.wait_for(lock, kLook, ends)) {
    // Whose error it is ranks have agreed on; what waits here may wait nowhere else.
    if (call.place != kEndPlace && sticky_error() != cudaSuccess) break;
  }
  if (is_next(call.place)) return;
  std::erase_if(waiting_, [&](const Waiting& each) { return each.call.place == call.place; });
  std::erase(admitted_, call.place);
  changed_.notify_all();
  refuse();
}

bool Turns::is_next(std::uint64_t place) const {
  if (admitted_.empty() || admitted_.front() != place) return false;
  const bool is_over = ended_ || main_calls_ >= free_calls_;  // read before whether the last of them is
  return is_over && !main_inside_;
}

void Turns::pass() noexcept {
  {
    const std::lock_guard lock(mutex_);
    admitted_.pop_front();
  }
  changed_.notify_all();
}

void Turns::run() noexcept {
  try {
    const Exchange exchange = parts_.connect();
    agree_on_begin(exchange);
    while (!run_round(exchange)) {
    }
  } catch (const std::exception& error) {
    give_up(error.what());
  }
}

void Turns::agree_on_begin(const Exchange& exchange) {
  std::uint64_t most = main_calls_;
  for (const auto& each : exchange(std::as_bytes(std::span(&most, 1)))) {
    std::uint64_t theirs = 0;
    std::memcpy(&theirs, each.data(), std::min(sizeof theirs, each.size()));
    most = std::max(most, theirs);
  }
  const std::lock_guard lock(mutex_);
  free_calls_ = most;
  mode_ = Mode::ordered;
  changed_.notify_all();
}

/// Whether it was the last.
bool Turns::run_round(const Exchange& exchange) {
  RoundList mine;
  {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, pause_, [this] { return waiting_.size() > told_; });
    changed_.wait(lock, [this] { return !waiting_.empty(); });
    mine = list();
  }
  std::vector<RoundList> lists;
  for (const auto& each : exchange(packed(mine))) {
    auto list = unpacked(each);
    if (!list) throw Error(ErrorCode::diverged, "ranks tell each other of different calls");
    lists.push_back(std::move(*list));
  }
  const Round round = round_of(lists);
  const std::string why = round.parting ? text_of(*round.parting, exchange) : std::string();
  note(round, mine.calls.size());
  if (round.parting) give_up(why);
  return round.parting.has_value() || (!round.admitted.empty() && round.admitted.back() == kEndPlace);
}

void Turns::note(const Round& round, std::size_t told) {
  const std::lock_guard lock(mutex_);
  for (const std::uint64_t place : round.admitted) {
    // One that has gone away found an error.
    if (std::erase_if(waiting_, [&](const Waiting& each) { return each.call.place == place; }) != 0)
      admitted_.push_back(place);
  }
  if (round.admitted.empty()) {
    if (!stuck_since_) stuck_since_ = Clock::now();
    pause_ = std::clamp(2 * pause_, kShortestPause, kLongestPause);
    told_ = told;
  } else {
    stuck_since_.reset();
    pause_ = std::chrono::microseconds(0);
    told_ = 0;
  }
  changed_.notify_all();
}

RoundList Turns::list() const {
  RoundList list;
  list.impatient = stuck_since_ && Clock::now() - *stuck_since_ > parts_.patience;
  for (const Waiting& each : waiting_) list.calls.push_back(each.call);
  return list;
}

/// Each of the two tells its own.
std::string Turns::text_of(const Parting& parting, const Exchange& exchange) {
  const auto rank = static_cast<std::size_t>(parts_.rank);
  std::string mine = "another call";
  {
    const std::lock_guard lock(mutex_);
    for (const Waiting& each : waiting_) {
      if ((rank == parting.rank && each.call.place == parting.place) ||
          (rank == parting.other_rank && each.call.place == parting.other_place))
        mine = each.text;
    }
  }
  const auto all = exchange(std::as_bytes(std::span(mine)));
  const auto told = [&all](std::size_t of) {
    return "rank " + std::to_string(of) + " made " +
           std::string(reinterpret_cast<const char*>(all[of].data()), all[of].size());
  };
  return told(parting.rank) + " where " + told(parting.other_rank) +
         ": let every rank make the same calls, each thread in the same order";
}

/// After the calls that have had their turn.
void Turns::give_up(const std::string& why) {
  {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, parts_.patience, [this] { return admitted_.empty(); });
  }
  has_turn = true;  // what it does to the lane comes next on all ranks
  parts_.part(why);
  const std::lock_guard lock(mutex_);
  mode_ = Mode::ordered;
  failed_ = true;
  changed_.notify_all();
}

void Turns::refuse() { throw Refused{sticky_error() != cudaSuccess ? sticky_error() : cudaErrorUnknown}; }

}  // namespace nuna::cudart
