#include "cluster/descriptors.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <random>
#include <system_error>

#include "base/check.hpp"

namespace nuna::cluster {
namespace {

constexpr std::size_t kControlBytes = CMSG_SPACE(Mailslot::kMostFiles * sizeof(int));

// Names without a file system: they vanish with their socket, and need no folder that one may write to.
struct Address {
  sockaddr_un socket{};
  socklen_t bytes = 0;
};
Address address_of(const std::string& name) {
  Address a;
  a.socket.sun_family = AF_UNIX;
  const std::size_t size = std::min(name.size(), sizeof a.socket.sun_path - 1);
  std::memcpy(a.socket.sun_path + 1, name.data(), size);
  a.bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + size);
  return a;
}

address::File datagram_socket() {
  return address::File(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

}  // namespace

Mailslot::Mailslot() : socket_(datagram_socket()) {
  if (socket_.descriptor() < 0) return;
  std::random_device random;
  const std::string name = "nuna-" + std::to_string(::getpid()) + "-" + std::to_string(random()) +
                           std::to_string(random());
  const Address address = address_of(name);
  if (::bind(socket_.descriptor(), reinterpret_cast<const sockaddr*>(&address.socket), address.bytes) == 0)
    name_ = name;
}

Mailslot::Given Mailslot::give(const std::string& name, std::uint64_t word, std::span<const int> files,
                               std::string& why) {
  base::check(!files.empty() && files.size() <= kMostFiles, "a gift is between one file and kMostFiles");
  const address::File socket = datagram_socket();
  Address address = address_of(name);
  alignas(cmsghdr) std::array<char, kControlBytes> control{};
  iovec bytes{&word, sizeof word};
  msghdr message{};
  message.msg_name = &address.socket;
  message.msg_namelen = address.bytes;
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = CMSG_SPACE(files.size_bytes());
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(files.size_bytes());
  std::memcpy(CMSG_DATA(header), files.data(), files.size_bytes());
  if (::sendmsg(socket.descriptor(), &message, MSG_NOSIGNAL) >= 0) return Given::yes;
  if (errno == EAGAIN || errno == ENOBUFS || errno == EINTR || errno == ETOOMANYREFS) return Given::later;
  why = std::generic_category().message(errno);
  return Given::never;
}

std::optional<Mailslot::Gift> Mailslot::take() const {
  Gift gift;
  alignas(cmsghdr) std::array<char, kControlBytes> control{};
  iovec bytes{&gift.word, sizeof gift.word};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t got = ::recvmsg(socket_.descriptor(), &message, MSG_CMSG_CLOEXEC);
  if (got < 0) return std::nullopt;
  for (cmsghdr* h = CMSG_FIRSTHDR(&message); h != nullptr; h = CMSG_NXTHDR(&message, h)) {
    if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (h->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int file = -1;
      std::memcpy(&file, CMSG_DATA(h) + i * sizeof file, sizeof file);
      gift.files.emplace_back(file);
    }
  }
  if (static_cast<std::size_t>(got) != sizeof gift.word) gift.word = 0;
  return gift;
}

}  // namespace nuna::cluster
