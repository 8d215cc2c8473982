#include "input.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "input_sockets.hpp"
#include "launcher_words.hpp"

namespace nuna::cudart {
namespace {

using namespace std::chrono_literals;

using Clock = std::chrono::steady_clock;

constexpr auto kPause = 50ms;  // where the next try would fail, too
constexpr std::size_t kPieceBytes = std::size_t{64} << 10;
constexpr auto kLongestEnd = 5s;  // that the first rank waits for others to take what it has read

/// The writing end of a pipe whose reading end is the standard input from now on; -1 if there is none.
int replace_standard_input() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return -1;
  const bool replaced =
      ::dup2(ends[0], STDIN_FILENO) == STDIN_FILENO && ::fcntl(STDIN_FILENO, F_SETFD, 0) == 0;
  if (ends[0] != STDIN_FILENO) ::close(ends[0]);
  if (replaced) return moved_up(ends[1]);
  ::close(ends[1]);
  return -1;
}

/// On a thread that the process does not wait for, and that no signal reaches.
template <class Work>
void run_aside(Work work) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread(work).detach();
  } catch (const std::exception&) {  // no threads: no input for others
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

/// The first rank's side.
class Source {
 public:
  /// `others` may come by `doors`, `awaited` of them for certain.
  Source(const InputDoors& doors, int others, int awaited)
      : doors_(doors), others_(others), awaited_(awaited) {
    struct stat what{};
    const bool is_there = ::fstat(STDIN_FILENO, &what) == 0;
    if (is_there && S_ISREG(what.st_mode)) {
      input_ = moved_up(::dup(STDIN_FILENO));
      file_position_ = std::max<off_t>(0, ::lseek(STDIN_FILENO, 0, SEEK_CUR));
      is_file_ = true;
    } else if (is_there && !S_ISCHR(what.st_mode)) {
      input_ = moved_up(::dup(STDIN_FILENO));
      if (const int program = replace_standard_input(); program >= 0) takers_.push_back({program, 0, true});
    }
    for (const Taker& taker : takers_) ::fcntl(taker.descriptor, F_SETFL, O_NONBLOCK);
  }

  void run() {
    for (;;) {
      forget_taken();
      step();
    }
  }
  /// At exit: until all ranks have what this one has taken.
  void finish() {
    std::unique_lock lock(mutex_);
    passed_on_.wait_for(lock, kLongestEnd, [this] { return !lags_; });
  }

 private:
  struct Taker {
    int descriptor = -1;
    std::uint64_t position = 0;
    bool is_program = false;
  };

  std::uint64_t end() const { return first_ + kept_.size(); }

  void step() {
    std::vector<pollfd> waits;
    bool somebody_waits = false;
    for (const Taker& taker : takers_) {
      somebody_waits = somebody_waits || taker.position == end();
      waits.push_back({taker.descriptor, static_cast<short>(taker.position < end() ? POLLOUT : 0), 0});
    }
    for (const int door : doors_.sockets()) waits.push_back({door, POLLIN, 0});
    const bool reads = input_ >= 0 && somebody_waits;
    if (reads) waits.push_back({input_, POLLIN, 0});
    if (::poll(waits.data(), waits.size(), -1) < 0) {
      std::this_thread::sleep_for(kPause);
      return;
    }
    if (reads && waits.back().revents != 0) read_more();
    const std::size_t doors_at = takers_.size();
    for (std::size_t t = doors_at; t-- > 0;) {
      if ((waits[t].revents & POLLNVAL) != 0) {  // the program has closed what it does not know
        takers_.erase(takers_.begin() + static_cast<std::ptrdiff_t>(t));
      } else if ((waits[t].revents & (POLLERR | POLLHUP)) != 0 || !hand_out(takers_[t])) {
        drop(t);
      }
    }
    for (std::size_t d = 0; d < doors_.sockets().size(); ++d) {
      if (waits[doors_at + d].revents != 0) accept_one(d);
    }
  }

  void read_more() {
    const std::size_t before = kept_.size();
    kept_.resize(before + kPieceBytes);
    const ssize_t count = is_file_ ? ::pread(input_, kept_.data() + before, kPieceBytes, file_position_)
                                   : ::read(input_, kept_.data() + before, kPieceBytes);
    kept_.resize(before + static_cast<std::size_t>(std::max<ssize_t>(0, count)));
    file_position_ += std::max<ssize_t>(0, count);
    if (count > 0 || (count < 0 && (errno == EINTR || errno == EAGAIN))) return;
    ::close(input_);
    input_ = -1;
  }

  /// False when the taker has all that there will be, or is gone.
  bool hand_out(Taker& taker) {
    while (taker.position < end()) {
      const std::size_t at = taker.position - first_;
      const ssize_t count = ::write(taker.descriptor, kept_.data() + at, kept_.size() - at);
      if (count < 0) return errno == EAGAIN || errno == EINTR;
      taker.position += static_cast<std::uint64_t>(count);
    }
    return input_ >= 0;
  }

  void drop(std::size_t taker) {
    ::close(takers_[taker].descriptor);
    takers_.erase(takers_.begin() + static_cast<std::ptrdiff_t>(taker));
  }

  /// Each rank once: those of a program that is started after this one wait for their own first rank.
  void accept_one(std::size_t door) {
    const auto [socket, rank] = doors_.let_in(door, known_);
    if (socket < 0) {
      std::this_thread::sleep_for(kPause);  // a stranger, or no descriptor is left
      return;
    }
    if (first_ > 0) {  // it comes too late for the beginning
      ::close(socket);
      return;
    }
    known_.push_back(rank);
    takers_.push_back({socket, 0, false});
    ::fcntl(takers_.back().descriptor, F_SETFL, O_NONBLOCK);
    if (!hand_out(takers_.back())) drop(takers_.size() - 1);
  }

  void forget_taken() {
    std::uint64_t least = end();
    for (const Taker& taker : takers_) least = std::min(least, taker.position);
    const bool lags = static_cast<int>(known_.size()) < awaited_ ||
                      std::any_of(
                          takers_.begin(), takers_.end(),
                          [this](const Taker& taker) { return !taker.is_program && taker.position < end(); });
    const bool nobody_comes =
        static_cast<int>(known_.size()) >= others_ || Clock::now() - start_ > kLongestStart;
    if (nobody_comes && least - first_ >= std::max(kPieceBytes, kept_.size() / 2)) {
      kept_.erase(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(least - first_));
      first_ = least;
    }
    const std::lock_guard lock(mutex_);
    lags_ = lags;
    if (!lags) passed_on_.notify_all();
  }

  const InputDoors& doors_;
  const int others_;
  const int awaited_;
  int input_ = -1;  // -1: it has ended
  bool is_file_ = false;
  off_t file_position_ = 0;
  std::vector<char> kept_;
  std::uint64_t first_ = 0;  // of the input's bytes, in kept_
  std::vector<Taker> takers_;
  std::vector<std::int32_t> known_;
  const Clock::time_point start_ = Clock::now();
  std::mutex mutex_;
  std::condition_variable passed_on_;
  bool lags_ = true;  // guarded by mutex_
};

/// `here` of the others are on this node.
void give_input(int others, int here) {
  // The thread uses both until the process has gone.
  static auto* const doors = new InputDoors(others, here < others);
  if (doors->sockets().empty()) return;
  const int awaited = doors->sockets().size() > 1 ? others : here;
  static auto* const source = new Source(*doors, others, awaited);
  run_aside([] { source->run(); });
  std::atexit([] { source->finish(); });
}

void pass_on(int socket, int program) {
  std::vector<char> piece(kPieceBytes);
  for (ssize_t count = 0; (count = ::recv(socket, piece.data(), piece.size(), 0)) > 0;) {
    for (ssize_t at = 0; at < count;) {
      const ssize_t written = ::write(program, piece.data() + at, static_cast<std::size_t>(count - at));
      if (written < 0) return;
      at += written;
    }
  }
}

void take_input(std::int32_t rank, bool is_here) {
  struct stat what{};
  const bool is_empty =
      ::fstat(STDIN_FILENO, &what) != 0 || (S_ISCHR(what.st_mode) && what.st_rdev == ::makedev(1, 3));
  const int program = is_empty ? replace_standard_input() : -1;
  run_aside([rank, is_here, program] {
    const int socket =
        connect_to_first(rank, is_here);  // also where it needs nothing: the first waits for that
    if (socket >= 0 && program >= 0) pass_on(socket, program);
    if (socket >= 0) ::close(socket);
    if (program >= 0) ::close(program);
  });
}

int number_in(std::initializer_list<const char*> names, int otherwise) {
  for (const char* name : names) {
    if (const char* text = std::getenv(name)) return std::atoi(text);
  }
  return otherwise;
}

}  // namespace

void share_standard_input(const Ranks& here) noexcept try {
  if (here.ranks == 1) return;
  const int on_this_node = number_in({"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}, 1);
  const bool has_words = on_this_node < here.ranks && LauncherWords::of_process() != nullptr;
  if (here.first()) {
    give_input(here.ranks - 1, on_this_node - 1);
    return;
  }
  // Ranks are counted from 0 on each node: where both numbers are the same, the first rank is here.
  const int local = number_in({"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"}, here.rank);
  const bool is_here = local == here.rank;
  if (is_here || has_words) take_input(here.rank, is_here);
} catch (const std::exception&) {  // out of memory: no input for others
}

}  // namespace nuna::cudart
