#include "input_sockets.hpp"

#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <thread>

#include "launcher_words.hpp"

namespace nuna::cudart {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kLongestAnswer = 20s;   // by the first rank, which looks at each visitor for a second at most
constexpr int kLongestConnect = 3000;  // milliseconds, by one of the first rank's addresses
constexpr const char* kWhere = "nuna.input";
constexpr std::size_t kPasswordBytes = 32;

/// What a visitor says first; to a door of the same node without a password.
struct Greeting {
  std::array<char, kPasswordBytes> password{};
  std::int32_t rank = 0;
};

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

int listen_here(int others) {
  const int door = moved_up(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  socklen_t bytes = 0;
  const sockaddr_un address = address_of_job(bytes);
  if (door >= 0 && ::bind(door, reinterpret_cast<const sockaddr*>(&address), bytes) == 0 &&
      ::listen(door, others + 8) == 0)
    return door;
  if (door >= 0) ::close(door);
  return -1;
}

/// At any free port, of IPv6 and IPv4, or of IPv4 where there is no other.
int listen_elsewhere(int others, int& port) {
  for (const int family : {AF_INET6, AF_INET}) {
    const int door = moved_up(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (door < 0) continue;
    const int both = 0;
    if (family == AF_INET6) ::setsockopt(door, IPPROTO_IPV6, IPV6_V6ONLY, &both, sizeof both);
    sockaddr_in6 any{};  // all zero but the family: any address, any port
    any.sin6_family = static_cast<sa_family_t>(family);
    const auto bytes =
        static_cast<socklen_t>(family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in));
    socklen_t length = sizeof any;
    if (::bind(door, reinterpret_cast<const sockaddr*>(&any), bytes) == 0 &&
        ::listen(door, others + 8) == 0 &&
        ::getsockname(door, reinterpret_cast<sockaddr*>(&any), &length) == 0) {
      port = ntohs(any.sin6_port);  // which lies where sin_port does
      return door;
    }
    ::close(door);
  }
  return -1;
}

/// This node's, as numbers; loopback only if there is no other.
std::vector<std::string> own_addresses() {
  std::vector<std::string> found;
  std::vector<std::string> loopback;
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return found;
  for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || (each->ifa_flags & IFF_UP) == 0) continue;
    const int family = each->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    const bool is_link_local =
        family == AF_INET6 &&
        IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<const sockaddr_in6*>(each->ifa_addr)->sin6_addr);
    if (is_link_local) continue;
    char text[NI_MAXHOST];
    const auto bytes = static_cast<socklen_t>(family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
    if (::getnameinfo(each->ifa_addr, bytes, text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0) continue;
    ((each->ifa_flags & IFF_LOOPBACK) != 0 ? loopback : found).emplace_back(text);
  }
  ::freeifaddrs(all);
  return found.empty() ? loopback : found;
}

std::string new_password() {
  constexpr char kDigits[] = "0123456789abcdef";
  std::array<unsigned char, kPasswordBytes> random{};
  if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) return {};
  std::string text;
  for (const unsigned char byte : random) text += kDigits[byte % 16];
  return text;
}

/// A TCP connection, within kLongestConnect; -1: none.
int connected(const std::string& address, const std::string& port) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(address.c_str(), port.c_str(), &hints, &found) != 0) return -1;
  const int socket = moved_up(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  bool is_there = socket >= 0 && ::connect(socket, found->ai_addr, found->ai_addrlen) == 0;
  if (socket >= 0 && !is_there && errno == EINPROGRESS) {
    pollfd wait{socket, POLLOUT, 0};
    int error = 0;
    socklen_t bytes = sizeof error;
    is_there = ::poll(&wait, 1, kLongestConnect) == 1 &&
               ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &bytes) == 0 && error == 0;
  }
  ::freeaddrinfo(found);
  if (is_there) {
    ::fcntl(socket, F_SETFL, 0);
    return socket;
  }
  if (socket >= 0) ::close(socket);
  return -1;
}

void answer_within(int socket, std::chrono::seconds patience) {
  const timeval longest{patience.count(), 0};
  ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof longest);
}

/// Whether the first rank takes us: what else listens at one of its addresses may never answer.
bool greet(int socket, const Greeting& greeting) {
  char answer = 0;
  answer_within(socket, kLongestAnswer);
  const bool is_taken = ::send(socket, &greeting, sizeof greeting, MSG_NOSIGNAL) == sizeof greeting &&
                        ::recv(socket, &answer, 1, 0) == 1;
  answer_within(socket, 0s);  // as long as it takes
  return is_taken;
}

int try_here(const Greeting& greeting) {
  const int socket = moved_up(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  socklen_t bytes = 0;
  const sockaddr_un address = address_of_job(bytes);
  if (socket >= 0 && ::connect(socket, reinterpret_cast<const sockaddr*>(&address), bytes) == 0 &&
      is_of_this_user(socket) && greet(socket, greeting))
    return socket;
  if (socket >= 0) ::close(socket);
  return -1;
}

int connect_elsewhere(Greeting greeting) {
  LauncherWords* const words = LauncherWords::of_process();
  const auto where = words == nullptr ? std::nullopt : words->find(0, kWhere, kLongestStart);
  if (!where) return -1;
  std::istringstream parts(*where);
  std::string port;
  std::string password;
  parts >> port >> password;
  if (password.size() != kPasswordBytes) return -1;
  std::copy(password.begin(), password.end(), greeting.password.begin());
  for (std::string address; parts >> address;) {
    const int socket = connected(address, port);
    if (socket >= 0 && greet(socket, greeting)) return socket;
    if (socket >= 0) ::close(socket);
  }
  return -1;
}

}  // namespace

int moved_up(int descriptor) {
  constexpr int kFirstDescriptor = 500;
  if (descriptor < 0) return descriptor;
  const int up = ::fcntl(descriptor, F_DUPFD_CLOEXEC, kFirstDescriptor);
  if (up < 0) {  // the process may not have so many
    ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    return descriptor;
  }
  ::close(descriptor);
  return up;
}

InputDoors::InputDoors(int others, bool elsewhere) {
  const int here = listen_here(others);
  if (here < 0) return;
  sockets_.push_back(here);
  LauncherWords* const words = elsewhere ? LauncherWords::of_process() : nullptr;
  if (words == nullptr) return;
  int port = 0;
  const int door = listen_elsewhere(others, port);
  password_ = new_password();
  std::string where = std::to_string(port) + " " + password_;
  for (const std::string& address : own_addresses()) where += " " + address;
  if (door >= 0 && !password_.empty() && words->leave(kWhere, where)) {
    sockets_.push_back(door);
  } else if (door >= 0) {
    ::close(door);
  }
}

InputDoors::Visitor InputDoors::let_in(std::size_t door, const std::vector<std::int32_t>& known) const {
  const int socket = ::accept4(sockets_[door], nullptr, nullptr, SOCK_CLOEXEC);
  if (socket < 0) return {};
  const bool is_here = door == 0;
  Greeting greeting;
  answer_within(socket, 1s);
  const bool is_one_of_us = ::recv(socket, &greeting, sizeof greeting, MSG_WAITALL) == sizeof greeting &&
                            (is_here ? is_of_this_user(socket)
                                     : std::equal(password_.begin(), password_.end(),
                                                  greeting.password.begin(), greeting.password.end()));
  const bool is_new = std::find(known.begin(), known.end(), greeting.rank) == known.end();
  if (!is_one_of_us || !is_new || ::send(socket, "y", 1, MSG_NOSIGNAL) != 1) {
    ::close(socket);
    return {};
  }
  const int at_once = 1;
  if (!is_here) ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
  return {moved_up(socket), greeting.rank};
}

int connect_to_first(std::int32_t rank, bool is_here) {
  Greeting greeting;
  greeting.rank = rank;
  if (!is_here) return connect_elsewhere(greeting);
  const auto end = Clock::now() + kLongestStart;
  for (auto pause = 1ms; Clock::now() < end; pause = std::min(2 * pause, 50ms)) {
    const int socket = try_here(greeting);
    if (socket >= 0) return socket;
    std::this_thread::sleep_for(pause);
  }
  return -1;
}

}  // namespace nuna::cudart
