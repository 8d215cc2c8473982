#include "cluster/neighbours.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>
#include <random>
#include <set>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>

#include "base/check.hpp"
#include "base/log.hpp"
#include "base/mutex.hpp"
#include "base/units.hpp"

namespace nuna::cluster {
namespace {

using base::Fault;
using Clock = std::chrono::steady_clock;

constexpr std::string_view kRoute = "mapped";
constexpr std::chrono::seconds kLongestExchange{2};
constexpr int kRounds = 5;  // of the proof; the best counts, because a rank may lose its core in the others
constexpr int kSlowestShare = 4;  // of the speed of a copy within one's own memory

std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

std::uint64_t random_word() {
  std::random_device random;
  return std::uint64_t{random()} << 32 | random();
}

// The same for the processes of one running kernel, whatever they call their host.
std::uint64_t kernel_key() {
  static const std::uint64_t key = [] {
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string id;
    if (std::getline(file, id)) return std::uint64_t{std::hash<std::string>()(id)};
    std::array<char, 256> name{};  // at worst, descriptors do not arrive
    ::gethostname(name.data(), name.size() - 1);
    return std::uint64_t{std::hash<std::string>()(std::string("host ") + name.data())};
  }();
  return key;
}

// Not its number: two containers may both have a process 1.
std::uint64_t process_key() {
  static const std::uint64_t key = random_word();
  return key;
}

// Processes from which no descriptors came once: nobody waits for them again.
class Silent {
 public:
  static Silent& of_process() {
    static auto* const only = new Silent;
    return *only;
  }
  bool has(std::uint64_t process) {
    const base::MutexLock lock(mutex_);
    return processes_.contains(process);
  }
  void add(std::uint64_t process) {
    const base::MutexLock lock(mutex_);
    processes_.insert(process);
  }

 private:
  base::Mutex mutex_;
  std::set<std::uint64_t> processes_ NUNA_GUARDED_BY(mutex_);
};

using Bytes = std::vector<std::byte>;

Bytes pattern_of(std::uint64_t token, int place) {
  Bytes bytes(static_cast<std::size_t>(kProofBytes));
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
    const std::uint64_t word = mixed(token + static_cast<std::uint64_t>(place) + at * 0x9e3779b97f4a7c15U);
    std::memcpy(&bytes[at], &word, sizeof word);
  }
  return bytes;
}

std::int64_t rate(Clock::duration best) {
  const auto ns = std::max<std::int64_t>(1, std::chrono::nanoseconds(best).count());
  return kProofBytes * 1'000'000'000 / ns;
}

template <class Copy>
std::int64_t best_rate(Copy copy) {
  auto best = Clock::duration::max();
  for (int round = 0; round < kRounds; ++round) {
    const auto start = Clock::now();
    copy();
    best = std::min(best, Clock::now() - start);
  }
  return rate(best);
}

template <class T>
std::vector<T> gathered(Communicator& communicator, const std::vector<T>& mine) {
  static_assert(std::is_trivially_copyable_v<T>);
  Envelope envelope;
  envelope.call = "the creation of a Context";
  Bytes bytes(mine.size() * sizeof(T));
  if (!mine.empty()) std::memcpy(bytes.data(), mine.data(), bytes.size());
  std::vector<T> all;
  for (const auto& each : communicator.allgather(envelope, bytes)) {
    const std::size_t first = all.size();
    all.resize(first + each.size() / sizeof(T));
    if (!each.empty()) std::memcpy(&all[first], each.data(), each.size());
  }
  return all;
}

template <std::size_t Size>
void set_text(std::array<char, Size>& text, std::string_view what) {
  const std::size_t size = std::min(what.size(), Size - 1);
  std::memcpy(text.data(), what.data(), size);
  text[size] = '\0';
}

}  // namespace

// What a rank tells the others.
struct Neighbours::Offer {
  std::uint64_t token = 0;
  std::uint64_t kernel = 0;
  std::uint64_t process = 0;
  Index bytes = 0;
  std::int32_t files = 0;  ///< of its places; 0 if one of them has none
  std::array<char, 68> mailslot{};

  // What comes with the descriptors from this rank to another.
  std::uint64_t word_for(const Offer& other) const { return mixed(token) ^ other.token; }
};

// A reader's verdict on an owner.
struct Neighbours::Verdict {
  std::int32_t reader = 0;
  std::int32_t owner = 0;
  std::int64_t bytes_per_second = 0;
  std::array<char, 112> why_not{};  ///< empty: it is good
};

Neighbours::Neighbours(Communicator& communicator, const Memory& mine, const base::Injection& injection)
    : communicator_(communicator) {
  const auto ranks = static_cast<std::size_t>(communicator.size());
  reading_.resize(ranks);
  read_by_.resize(ranks);
  memories_.resize(ranks);
  const Mailslot mailslot;
  const std::vector<Offer> offers = gathered(communicator_, std::vector<Offer>{offer(mine, mailslot)});
  exchange(offers, mine, mailslot, injection);
  prove(offers, injection);
  agree(offers);
  for (const int file : mine.files) {
    if (file >= 0) ::fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, kProofBytes);
  }
}

Neighbours::~Neighbours() { own_->close(); }

// What this rank has to give, with the patterns in place.
Neighbours::Offer Neighbours::offer(const Memory& mine, const Mailslot& mailslot) {
  Offer own;
  own.token = random_word();
  own.kernel = kernel_key();
  own.process = process_key();
  own.bytes = mine.bytes;
  own_ = SharedMemory::publish(own.token, mine.bases);
  set_text(own.mailslot, mailslot.name());
  if (mine.files.size() > Mailslot::kMostFiles) return own;
  own.files = static_cast<std::int32_t>(mine.files.size());
  for (int p = 0; p < static_cast<int>(mine.files.size()); ++p) {
    const Bytes pattern = pattern_of(own.token, p);
    const int file = mine.files[static_cast<std::size_t>(p)];
    if (file < 0 || ::pwrite(file, pattern.data(), pattern.size(), 0) != kProofBytes) own.files = 0;
  }
  return own;
}

PeerMemory& Neighbours::memory(base::RankId owner) {
  auto& memory = memories_[static_cast<std::size_t>(owner.value)];
  base::check(memory != nullptr, "a rank reads memory that it was not given");
  return *memory;
}

// Gives to all neighbours and takes from all; who cannot be reached, or does not give in time, has no memory here.
void Neighbours::exchange(const std::vector<Offer>& offers, const Memory& mine, const Mailslot& mailslot,
                          const base::Injection& injection) {
  const base::RankId me = communicator_.rank();
  const Offer& own = offers[static_cast<std::size_t>(me.value)];
  std::vector<int> to_give;
  std::set<int> awaited;
  for (int step = 1; step < communicator_.size(); ++step) {
    const int r = (me.value + step) % communicator_.size();
    const Offer& other = offers[static_cast<std::size_t>(r)];
    Proof& theirs = reading_[static_cast<std::size_t>(r)];
    theirs.why_not = "they are on different nodes";
    if (other.kernel != own.kernel) continue;
    if (other.process == own.process) {
      auto here = SharedMemory::find(other.token);
      base::check(here != nullptr, "a rank of this process has published its memory");
      memories_[static_cast<std::size_t>(r)] = std::make_unique<PeerMemory>(std::move(here));
      theirs = {true, 0, {}};
      continue;
    }
    theirs.why_not = "its memory is no file that could be given away";
    if (own.files > 0 && !injection.has(kRoute, Fault::refused)) to_give.push_back(r);
    if (other.files == 0) continue;
    theirs.why_not = "it gave no descriptor of its memory (other container, or no Unix sockets)";
    if (Silent::of_process().has(other.process)) continue;
    awaited.insert(r);
  }
  const auto deadline = Clock::now() + kLongestExchange;
  while ((!to_give.empty() || !awaited.empty()) && Clock::now() < deadline) {
    std::string why;
    bool moved = false;
    std::erase_if(to_give, [&](int r) {
      const Offer& other = offers[static_cast<std::size_t>(r)];
      const auto given = Mailslot::give(other.mailslot.data(), own.word_for(other), mine.files, why);
      moved = moved || given != Mailslot::Given::later;
      return given != Mailslot::Given::later;
    });
    while (auto gift = mailslot.take()) {
      moved = true;
      for (std::size_t r = 0; r < offers.size(); ++r) {
        const Offer& from = offers[r];
        if (gift->word != from.word_for(own) || memories_[r] != nullptr ||
            gift->files.size() != static_cast<std::size_t>(from.files))
          continue;
        if (!injection.has(kRoute, Fault::lost)) {
          memories_[r] = std::make_unique<PeerMemory>(std::move(gift->files), from.bytes);
          awaited.erase(static_cast<int>(r));
        }
        break;
      }
    }
    if (!moved) std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  for (const int r : awaited) Silent::of_process().add(offers[static_cast<std::size_t>(r)].process);
}

void Neighbours::prove(const std::vector<Offer>& offers, const base::Injection& injection) {
  Bytes got(static_cast<std::size_t>(kProofBytes));
  const Bytes source(got.size());
  const std::int64_t own_rate = best_rate([&] { std::memcpy(got.data(), source.data(), got.size()); });
  for (std::size_t r = 0; r < offers.size(); ++r) {
    PeerMemory* const memory = memories_[r].get();
    if (memory == nullptr || memory->in_process()) continue;
    Proof& proof = reading_[r];
    bool intact = true;
    proof.bytes_per_second = std::numeric_limits<std::int64_t>::max();
    if (injection.has(kRoute, Fault::unmapped)) memory->refuse_mappings();
    for (int p = 0; p < offers[r].files; ++p) {
      const Lease lease = memory->borrow({p}, {0, kProofBytes});
      const std::int64_t rate_here = best_rate([&] {
        if (lease) {
          std::memcpy(got.data(), lease.first(), got.size());
        } else {
          intact = intact && memory->read({p}, 0, got);
        }
        if (injection.has(kRoute, Fault::slow)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      });
      proof.bytes_per_second = std::min(proof.bytes_per_second, rate_here);
      if (injection.has(kRoute, Fault::wrong)) got[got.size() / 2] ^= std::byte{1};
      intact = intact && got == pattern_of(offers[r].token, p);
    }
    proof.why_not.clear();
    if (!intact) proof.why_not = "a pattern in its memory did not arrive as it was written";
    if (intact && proof.bytes_per_second < own_rate / kSlowestShare) {
      proof.why_not =
          "its memory is slow to read: " + base::rounded_bytes_per_second(proof.bytes_per_second) +
          " against " + base::rounded_bytes_per_second(own_rate);
    }
    proof.good = proof.why_not.empty();
  }
}

// Exchanges the verdicts within the nodes, and says the first bad one.
void Neighbours::agree(const std::vector<Offer>& offers) {
  const base::RankId me = communicator_.rank();
  const std::uint64_t here = offers[static_cast<std::size_t>(me.value)].kernel;
  std::vector<Verdict> mine;
  for (int r = 0; r < communicator_.size(); ++r) {
    if (r == me.value || offers[static_cast<std::size_t>(r)].kernel != here) continue;
    const Proof& proof = reading_[static_cast<std::size_t>(r)];
    Verdict verdict;
    verdict.reader = me.value;
    verdict.owner = r;
    verdict.bytes_per_second = proof.bytes_per_second;
    set_text(verdict.why_not, proof.why_not);
    mine.push_back(verdict);
  }
  for (Proof& p : read_by_) p.why_not = "they are on different nodes";
  for (const Verdict& v : gathered(communicator_, mine)) {
    if (v.owner != me.value) continue;
    const std::string why(v.why_not.data());
    read_by_[static_cast<std::size_t>(v.reader)] = {why.empty(), v.bytes_per_second, why};
  }
  for (const Verdict& v : mine) {
    if (v.why_not[0] == '\0') continue;
    base::log(base::LogLevel::warn, "route", me,
              "messages of rank " + std::to_string(v.owner) +
                  " come by MPI instead of being read from its memory: " + v.why_not.data());
    return;
  }
}

}  // namespace nuna::cluster
