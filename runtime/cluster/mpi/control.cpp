#include "cluster/mpi/control.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <deque>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "base/worker_thread.hpp"

namespace nuna::cluster::mpi {
namespace {

constexpr std::uint64_t kMagic = 0x6e756e6131000001U;  // "nuna1", the version of what follows
constexpr std::size_t kMostContexts = 64;              // that are remembered after their end
constexpr std::uint64_t kMostReplyBytes = 1 << 20;
constexpr std::chrono::milliseconds kPatienceWithAsker{1000};

class Socket {
 public:
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  ~Socket() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int get() const { return descriptor_; }
  int release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_;
};

using Deadline = std::chrono::steady_clock::time_point;

bool ready(int socket, short events, Deadline until) {
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    pollfd p{socket, events, 0};
    const int n = ::poll(&p, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    if (n < 0 && errno == EINTR) continue;
    return n > 0;
  }
}

bool read_all(int socket, void* into, std::size_t bytes, Deadline until) {
  auto* next = static_cast<char*>(into);
  while (bytes > 0) {
    if (!ready(socket, POLLIN, until)) return false;
    const ssize_t n = ::recv(socket, next, bytes, MSG_DONTWAIT);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) return false;
    if (n < 0) continue;
    next += n;
    bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

bool write_all(int socket, const void* from, std::size_t bytes, Deadline until) {
  const auto* next = static_cast<const char*>(from);
  while (bytes > 0) {
    if (!ready(socket, POLLOUT, until)) return false;
    const ssize_t n = ::send(socket, next, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && errno != EAGAIN && errno != EINTR) return false;
    if (n < 0) continue;
    next += n;
    bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

struct Question {
  std::uint64_t magic = kMagic;
  std::uint64_t token = 0;
  std::uint64_t context = 0;
};

template <class T>
void append(std::vector<char>& out, const T& value) {
  const auto* first = reinterpret_cast<const char*>(&value);
  out.insert(out.end(), first, first + sizeof value);
}

std::vector<char> serialised(const History& history, const Status& status) {
  std::vector<char> out;
  append(out, static_cast<std::uint32_t>(status.left ? 1 : 0));
  append(out, status.signs);
  append(out, status.sent);
  append(out, static_cast<std::uint32_t>(history.calls().size()));
  for (const Called& c : history.calls()) {
    append(out, c.sequence);
    append(out, c.hash);
    append(out, static_cast<std::uint32_t>(c.call.size()));
    out.insert(out.end(), c.call.begin(), c.call.end());
  }
  return out;
}

std::optional<Answer> parsed(const std::vector<char>& bytes) {
  std::size_t at = 0;
  const auto take = [&](auto& value) {
    if (bytes.size() - at < sizeof value) return false;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    at += sizeof value;
    return true;
  };
  std::uint32_t left = 0;
  std::uint32_t count = 0;
  Answer answer;
  if (!take(left) || !take(answer.signs) || !take(answer.sent) || !take(count)) return std::nullopt;
  answer.left = left != 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    Called c;
    std::uint32_t size = 0;
    if (!take(c.sequence) || !take(c.hash) || !take(size) || bytes.size() - at < size) return std::nullopt;
    c.call.assign(bytes.data() + at, size);
    at += size;
    answer.history.note(std::move(c));
  }
  return answer;
}

std::uint64_t host_hash() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return std::hash<std::string>{}(name);
}

void add_interfaces(Address& address) {
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return;
  for (const ifaddrs* i = first; i != nullptr && address.count < Address::kMost; i = i->ifa_next) {
    if (i->ifa_addr == nullptr || i->ifa_addr->sa_family != AF_INET) continue;
    if ((i->ifa_flags & IFF_UP) == 0 || (i->ifa_flags & IFF_LOOPBACK) != 0) continue;
    sockaddr_in v4{};
    std::memcpy(&v4, i->ifa_addr, sizeof v4);
    address.ipv4[address.count++] = v4.sin_addr.s_addr;
  }
  ::freeifaddrs(first);
}

}  // namespace

struct Responder::State {
  int listener = -1;
  std::uint64_t token = 0;
  base::Mutex mutex;
  std::deque<std::pair<std::uint64_t, std::shared_ptr<const Journal>>> journals NUNA_GUARDED_BY(mutex);
};

Responder& Responder::of_process() {
  static auto* only = new Responder;  // answers until the process ends, also while MPI_Finalize waits
  return *only;
}

Responder::Responder() : state_(std::make_shared<State>()) {
  std::random_device random;
  state_->token = (std::uint64_t{random()} << 32) | random();
  address_.token = state_->token;
  address_.process = ::getpid();
  address_.host = host_hash();
  add_interfaces(address_);
  Socket listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_addr.s_addr = htonl(INADDR_ANY);
  socklen_t size = sizeof any;
  if (listener.get() < 0 || ::bind(listener.get(), reinterpret_cast<sockaddr*>(&any), sizeof any) != 0 ||
      ::listen(listener.get(), 64) != 0 ||
      ::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&any), &size) != 0) {
    base::log(base::LogLevel::warn, "cluster", std::nullopt,
              std::string("no socket for questions of other ranks (") + std::strerror(errno) +
                  "): a stall is reported without its cause");
    return;
  }
  address_.port = any.sin_port;
  state_->listener = listener.release();
  base::start_worker("nuna-control", [this] { serve(); }).detach();
}

void Responder::answer_for(std::uint64_t context, std::shared_ptr<const Journal> journal) {
  const base::MutexLock lock(state_->mutex);
  if (state_->journals.size() >= kMostContexts) {
    for (auto j = state_->journals.begin(); j != state_->journals.end(); ++j) {
      if (!j->second->left()) continue;
      state_->journals.erase(j);
      break;
    }
  }
  state_->journals.emplace_back(context, std::move(journal));
}

void Responder::serve() const {
  for (;;) {
    const Socket connection(::accept4(state_->listener, nullptr, nullptr, SOCK_CLOEXEC));
    if (connection.get() >= 0) {
      reply(connection.get());
    } else if (errno != EINTR && errno != ECONNABORTED) {
      ::usleep(100'000);  // no descriptors, say: it may get better
    }
  }
}

void Responder::reply(int connection) const {
  const Deadline until = std::chrono::steady_clock::now() + kPatienceWithAsker;
  Question question;
  if (!read_all(connection, &question, sizeof question, until)) return;
  if (question.magic != kMagic || question.token != state_->token) return;
  std::shared_ptr<const Journal> journal;
  {
    const base::MutexLock lock(state_->mutex);
    for (const auto& [context, candidate] : state_->journals) {
      if (context == question.context) journal = candidate;
    }
  }
  std::vector<char> bytes;
  if (journal != nullptr) bytes = serialised(journal->history(), journal->status());
  const auto size = static_cast<std::uint64_t>(bytes.size());
  if (write_all(connection, &size, sizeof size, until))
    write_all(connection, bytes.data(), bytes.size(), until);
}

namespace {

enum class Outcome : std::uint8_t { answered, refused, silent };

Outcome ask_at(std::uint32_t ipv4, const Address& address, std::uint64_t context, Deadline until,
               Answer& answer) {
  const Socket s(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (s.get() < 0) return Outcome::silent;
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = ipv4;
  to.sin_port = address.port;
  if (::connect(s.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) {
    if (errno == ECONNREFUSED) return Outcome::refused;
    if (errno != EINPROGRESS || !ready(s.get(), POLLOUT, until)) return Outcome::silent;
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(s.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return error == ECONNREFUSED ? Outcome::refused : Outcome::silent;
  }
  const Question question{kMagic, address.token, context};
  std::uint64_t size = 0;
  if (!write_all(s.get(), &question, sizeof question, until) ||
      !read_all(s.get(), &size, sizeof size, until) || size > kMostReplyBytes)
    return Outcome::silent;
  std::vector<char> bytes(size);
  if (!read_all(s.get(), bytes.data(), bytes.size(), until)) return Outcome::silent;
  if (auto got = parsed(bytes)) answer = std::move(*got);
  return Outcome::answered;
}

}  // namespace

std::optional<Answer> ask(const Address& address, std::uint64_t context, std::chrono::milliseconds limit) {
  if (address.port == 0) return std::nullopt;
  const Deadline until = std::chrono::steady_clock::now() + limit;
  std::vector<std::uint32_t> ways;
  if (address.host == host_hash()) ways.push_back(htonl(INADDR_LOOPBACK));
  for (int i = 0; i < address.count && ways.empty(); ++i)
    ways.assign(address.ipv4.begin(), address.ipv4.begin() + address.count);
  Answer answer;
  bool refused = false;
  for (const std::uint32_t ipv4 : ways) {
    switch (ask_at(ipv4, address, context, until, answer)) {
      case Outcome::answered:
        return answer;
      case Outcome::refused:
        refused = true;
        break;
      case Outcome::silent:
        break;
    }
  }
  if (!refused) return std::nullopt;
  answer.gone = true;
  return answer;
}

}  // namespace nuna::cluster::mpi
