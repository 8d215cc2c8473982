#include "cluster/gathering.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/check.hpp"
#include "base/log.hpp"
#include "cluster/stall_watch.hpp"

namespace nuna::cluster {
namespace {

using Clock = std::chrono::steady_clock;

std::string name_of(std::size_t rank) { return "rank " + std::to_string(rank); }

bool agree(const Envelope& a, const Envelope& b) {
  return a.sequence == b.sequence && a.hash == b.hash && a.message == b.message;
}

std::string called(const Envelope& envelope) {
  return (envelope.call.empty() ? "an unnamed call" : envelope.call) + " (call " +
         std::to_string(envelope.sequence) + ", message " + std::to_string(envelope.message) + ")";
}

// How often it is asked whether those who are missing called something else.
constexpr std::chrono::milliseconds kLook{200};
constexpr const char* kRemedy = ": let every rank make the same calls, or raise NUNA_STALL";

}  // namespace

Gathering::Gathering(Members& members, std::chrono::nanoseconds stall)
    : members_(members), stall_(stall), current_(std::make_shared<Round>()) {
  current_->entries.resize(static_cast<std::size_t>(members.size()));
}

std::vector<std::vector<std::byte>> Gathering::allgather(base::RankId rank, const Envelope& envelope,
                                                         std::span<const std::byte> bytes) {
  Entry entry{true, envelope, {bytes.begin(), bytes.end()}};
  std::shared_ptr<Round> round;
  {
    base::MutexLock lock(mutex_);
    round = arrive(rank, std::move(entry));
    wait(rank, *round, lock);
    const std::optional<Failure>& failure = round->failure;
    if (failure) throw Error(failure->code, failure->text);
  }
  std::vector<std::vector<std::byte>> all;  // entries of a complete round change no more
  all.reserve(round->entries.size());
  for (const Entry& e : round->entries) all.push_back(e.bytes);
  return all;
}

void Gathering::wake() {
  const base::MutexLock lock(mutex_);
  changed_.notify_all();
}

std::shared_ptr<Gathering::Round> Gathering::arrive(base::RankId rank, Entry entry) {
  std::shared_ptr<Round> round = current_;
  Entry& place = round->entries[static_cast<std::size_t>(rank.value)];
  if (place.arrived) {  // a rank that comes back to a failed round is told again; the round waits for the
                        // others
    base::check(round->failure.has_value(), "two threads of one rank are in allgather at once");
    return round;
  }
  members_.sign(rank);
  place = std::move(entry);
  if (++round->arrived == members_.size()) {
    round->complete = true;
    if (!round->failure) round->failure = verdict(*round);
    current_ = std::make_shared<Round>();
    current_->entries.resize(round->entries.size());
    changed_.notify_all();
  }
  return round;
}

void Gathering::wait(base::RankId rank, Round& round, base::MutexLock& lock) {
  std::vector<StallWatch> watches;
  watches.reserve(round.entries.size());
  const auto start = Clock::now();
  auto looked = start;
  bool told = false;
  for (int r = 0; r < members_.size(); ++r) watches.emplace_back(stall_, start, members_.signs({r}));
  while (!round.complete && !round.failure) {
    const auto now = Clock::now();
    round.failure = departure(rank, round);
    auto rest = std::chrono::nanoseconds(kLook);
    const bool look = now - looked >= kLook;
    if (look) looked = now;
    for (std::size_t r = 0; r < watches.size() && !round.failure; ++r) {
      if (round.entries[r].arrived) continue;
      const base::RankId missing{static_cast<std::int32_t>(r)};
      if (look) round.failure = difference(rank, missing);
      const StallWatch::Verdict verdict = watches[r].judge(now, members_.signs(missing));
      if (verdict == StallWatch::Verdict::slow && !std::exchange(told, true))
        base::log(base::LogLevel::warn, "cluster", rank, stall(rank, round, now - start));
      if (verdict == StallWatch::Verdict::stalled)
        round.failure = Failure{ErrorCode::stalled, stall(rank, round, now - start) + kRemedy};
      rest = std::min(rest, watches[r].rest(now));
    }
    if (round.failure) {
      changed_.notify_all();
    } else {
      lock.wait_for(changed_, rest);
    }
  }
}

std::optional<Gathering::Failure> Gathering::departure(base::RankId rank, const Round& round) const {
  for (std::size_t r = 0; r < round.entries.size(); ++r) {
    const base::RankId other{static_cast<std::int32_t>(r)};
    if (round.entries[r].arrived || !members_.left(other)) continue;
    return Failure{ErrorCode::diverged,
                   name_of(r) + " " + members_.farewell(other) + ", but " +
                       name_of(static_cast<std::size_t>(rank.value)) + " waits for it in " +
                       called(round.entries[static_cast<std::size_t>(rank.value)].envelope) +
                       ": let every rank make the same calls"};
  }
  return std::nullopt;
}

std::optional<Gathering::Failure> Gathering::difference(base::RankId rank, base::RankId missing) const {
  const auto found = members_.difference(rank, missing);
  return found ? std::optional(Failure{ErrorCode::diverged, *found}) : std::nullopt;
}

std::string Gathering::stall(base::RankId rank, const Round& round, std::chrono::nanoseconds waited) const {
  std::string missing;
  for (std::size_t r = 0; r < round.entries.size(); ++r) {
    if (round.entries[r].arrived) continue;
    if (!missing.empty()) missing += ", ";
    missing += members_.whereabouts({static_cast<std::int32_t>(r)});
  }
  return name_of(static_cast<std::size_t>(rank.value)) + " has waited " + waited_text(waited) + " in " +
         called(round.entries[static_cast<std::size_t>(rank.value)].envelope) + " for " + missing;
}

std::optional<Gathering::Failure> Gathering::verdict(const Round& round) {
  const Envelope& first = round.entries.front().envelope;
  for (std::size_t r = 1; r < round.entries.size(); ++r) {
    const Envelope& other = round.entries[r].envelope;
    if (agree(first, other)) continue;
    const std::string difference = other.call == first.call ? " after a different history of calls" : "";
    return Failure{ErrorCode::diverged, name_of(r) + " called " + called(other) + " where rank 0 called " +
                                            called(first) + difference +
                                            ": let every rank make the same calls"};
  }
  for (std::size_t r = 0; r < round.entries.size(); ++r) {
    const Envelope& e = round.entries[r].envelope;
    if (e.failure.empty()) continue;
    return Failure{ErrorCode::diverged,
                   name_of(r) + " could not take part in " + called(e) + ": " + e.failure};
  }
  return std::nullopt;
}

}  // namespace nuna::cluster
