#include "adsm/futex.hpp"

#include <linux/futex.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <ctime>

namespace nuna::adsm {
namespace {

timespec spec_of(std::chrono::nanoseconds time) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  return {static_cast<time_t>(time.count() / kSecond), static_cast<long>(time.count() % kSecond)};
}

class KeptErrno {
 public:
  KeptErrno() : kept_(errno) {}
  ~KeptErrno() { errno = kept_; }
  KeptErrno(const KeptErrno&) = delete;
  KeptErrno& operator=(const KeptErrno&) = delete;

 private:
  int kept_;
};

}  // namespace

void sleep_while(const std::atomic<std::uint32_t>& word, std::uint32_t seen,
                 std::chrono::nanoseconds at_most) noexcept {
  const KeptErrno kept;
  const timespec limit = spec_of(at_most);
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, &limit, nullptr, 0);
}

void wake_all(const std::atomic<std::uint32_t>& word) noexcept {
  const KeptErrno kept;
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

void sleep_for(std::chrono::nanoseconds time, const sigset_t* signals) noexcept {
  const KeptErrno kept;
  const timespec limit = spec_of(time);
  ppoll(nullptr, 0, &limit, signals);
}

}  // namespace nuna::adsm
