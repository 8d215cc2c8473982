#include "input.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
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

namespace nuna::cudart {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kPieceBytes = std::size_t{64} << 10;
constexpr auto kLongestStart = 60s;    // between the starts of two ranks
constexpr auto kLongestEnd = 5s;       // that the first rank waits for others to take what it has read
constexpr int kFirstDescriptor = 500;  // the program's own files get the numbers that it is used to

/// Of the same number in all ranks of one job on this node, and in no other job.
sockaddr_un address_of_job(socklen_t& bytes) {
  std::string name = "nuna-input-" + std::to_string(::getuid());
  bool is_known = false;
  for (const char* variable : {"PMIX_NAMESPACE", "PMI_JOBID", "SLURM_JOB_ID", "SLURM_STEP_ID"}) {
    const char* const value = std::getenv(variable);
    if (value == nullptr) continue;
    name += std::string("-") + value;
    is_known = true;
  }
  if (!is_known) name += "-" + std::to_string(::getppid());
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.resize(std::min(name.size(), sizeof address.sun_path - 1));
  std::memcpy(address.sun_path + 1, name.data(), name.size());  // behind a zero: a name without a file
  bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return address;
}

bool is_of_this_user(int socket) {
  ucred peer{};
  socklen_t bytes = sizeof peer;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 && peer.uid == ::getuid();
}

int moved_up(int descriptor) {
  const int up = ::fcntl(descriptor, F_DUPFD_CLOEXEC, kFirstDescriptor);
  if (up < 0) return descriptor;
  ::close(descriptor);
  return up;
}

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
  /// `others` are on all nodes, `awaited` of them on this one, as far as is known.
  Source(int listener, int others, int awaited) : listener_(listener), others_(others), awaited_(awaited) {
    struct stat what{};
    const bool is_there = ::fstat(STDIN_FILENO, &what) == 0;
    if (is_there && S_ISREG(what.st_mode)) {
      input_ = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, kFirstDescriptor);
      file_position_ = std::max<off_t>(0, ::lseek(STDIN_FILENO, 0, SEEK_CUR));
      is_file_ = true;
    } else if (is_there && !S_ISCHR(what.st_mode)) {
      input_ = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, kFirstDescriptor);
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
    std::vector<pollfd> waits{{listener_, POLLIN, 0}};
    bool somebody_waits = false;
    for (const Taker& taker : takers_) {
      somebody_waits = somebody_waits || taker.position == end();
      waits.push_back({taker.descriptor, static_cast<short>(taker.position < end() ? POLLOUT : 0), 0});
    }
    const bool reads = input_ >= 0 && somebody_waits;
    if (reads) waits.push_back({input_, POLLIN, 0});
    if (::poll(waits.data(), waits.size(), -1) < 0) return;
    if (reads && waits.back().revents != 0) read_more();
    for (std::size_t t = takers_.size(); t-- > 0;) {
      if ((waits[t + 1].revents & (POLLERR | POLLHUP)) != 0 || !hand_out(takers_[t])) drop(t);
    }
    if (waits.front().revents != 0) accept_one();
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
  void accept_one() {
    const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) return;
    std::int32_t rank = 0;
    const timeval patience{1, 0};
    ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    const bool is_new = is_of_this_user(socket) &&
                        ::recv(socket, &rank, sizeof rank, MSG_WAITALL) == sizeof rank &&
                        std::find(known_.begin(), known_.end(), rank) == known_.end();
    if (!is_new || ::send(socket, "y", 1, MSG_NOSIGNAL) != 1) {
      ::close(socket);
      return;
    }
    known_.push_back(rank);
    takers_.push_back({moved_up(socket), 0, false});
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
    if (static_cast<int>(known_.size()) >= others_ && least - first_ >= kPieceBytes) {
      kept_.erase(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(least - first_));
      first_ = least;
    }
    const std::lock_guard lock(mutex_);
    lags_ = lags;
    if (!lags) passed_on_.notify_all();
  }

  const int listener_;
  const int others_;
  const int awaited_;
  int input_ = -1;  // -1: it has ended
  bool is_file_ = false;
  off_t file_position_ = 0;
  std::vector<char> kept_;
  std::uint64_t first_ = 0;  // of the input's bytes, in kept_
  std::vector<Taker> takers_;
  std::vector<std::int32_t> known_;
  std::mutex mutex_;
  std::condition_variable passed_on_;
  bool lags_ = true;  // guarded by mutex_
};

void give_input(int others, int awaited) {
  const int listener = moved_up(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  socklen_t bytes = 0;
  const sockaddr_un address = address_of_job(bytes);
  // A process that the first rank has started does not take its place.
  if (listener < 0 || ::bind(listener, reinterpret_cast<const sockaddr*>(&address), bytes) != 0 ||
      ::listen(listener, others + 8) != 0) {
    if (listener >= 0) ::close(listener);
    return;
  }
  static auto* const source =
      new Source(listener, others, awaited);  // the thread uses it until the process has gone
  run_aside([] { source->run(); });
  std::atexit([] { source->finish(); });
}

/// Connected to the first rank; -1 if there is none.
int connect_to_first(std::int32_t rank) {
  socklen_t bytes = 0;
  const sockaddr_un address = address_of_job(bytes);
  const auto end = std::chrono::steady_clock::now() + kLongestStart;
  for (auto pause = 1ms; std::chrono::steady_clock::now() < end; pause = std::min(2 * pause, 50ms)) {
    const int socket = moved_up(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    char answer = 0;
    if (socket < 0) return -1;
    if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), bytes) == 0 &&
        is_of_this_user(socket) && ::send(socket, &rank, sizeof rank, MSG_NOSIGNAL) == sizeof rank &&
        ::recv(socket, &answer, 1, 0) == 1)
      return socket;
    ::close(socket);
    std::this_thread::sleep_for(pause);
  }
  return -1;
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

void take_input(std::int32_t rank) {
  struct stat what{};
  const bool is_empty =
      ::fstat(STDIN_FILENO, &what) != 0 || (S_ISCHR(what.st_mode) && what.st_rdev == ::makedev(1, 3));
  const int program = is_empty ? replace_standard_input() : -1;
  run_aside([rank, program] {
    const int socket = connect_to_first(rank);  // also where it needs nothing: the first waits for that
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
  if (here.first()) {
    give_input(here.ranks - 1, number_in({"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}, 1) - 1);
    return;
  }
  // Ranks are counted from 0 on each node: where both numbers are the same, the first rank is here.
  const int local = number_in({"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"}, here.rank);
  if (local == here.rank) take_input(here.rank);
} catch (const std::exception&) {  // out of memory: no input for others
}

}  // namespace nuna::cudart
