// The host's plain pointers into 1 GiB that two devices own, against what they are made of: memcpy, a bare SIGSEGV handler that
// calls mprotect, and one mprotect of everything.
//
// The peer copies from the same devices' memory (the kernel tells its addresses), into pages in the same state. The bare
// handler takes the place of Nuna's for the time of its samples, so nothing is forwarded; its two mappings of one file in memory
// are like Nuna's. Launches, and what the samples need besides, are not timed.

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "nuna/nuna.hpp"
#include "perf/measure.hpp"

namespace {

using namespace nuna::perf;
using nuna::Index;

constexpr Index kBytes = Index{1} << 30;
constexpr Index kWords = kBytes / static_cast<Index>(sizeof(std::uint64_t));
constexpr Index kBlock = Index{64} << 10;  // Nuna's, if nothing else is asked for
constexpr Index kBlocks = kBytes / kBlock;
constexpr Index kFew = 512;  // of them: far apart, none is guessed
constexpr Index kPage = 4096;

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "perf_faults: %s\n", what);
  std::exit(EXIT_FAILURE);
}

std::byte* mapped(int protection, int flags, int file = -1) {
  void* const got = mmap(nullptr, static_cast<std::size_t>(kBytes), protection, flags, file, 0);
  if (got == MAP_FAILED) fail("no memory");
  return static_cast<std::byte*>(got);
}

void protect(std::byte* first, Index bytes, int protection) {
  if (mprotect(first, static_cast<std::size_t>(bytes), protection) != 0) fail("mprotect refuses");
}

std::uint64_t sum_of(const void* bytes) {
  const auto* const words = static_cast<const std::uint64_t*>(bytes);
  return std::accumulate(words, words + kWords, std::uint64_t{0});
}

// Where each half of the buffer lies in its device's memory.
using Halves = std::array<std::uint64_t*, 2>;

struct Step {
  std::uint64_t round;
  Halves* halves;
  void operator()(nuna::Thread t, const nuna::View<std::uint64_t, 1>& x) const {
    const Index i = t.global(0);
    x(i) = static_cast<std::uint64_t>(i) * round;
    if (i == 0) (*halves)[0] = &x(i);
    if (i == kWords / 2) (*halves)[1] = &x(i);
  }
};

class Ours {
 public:
  explicit Ours(nuna::Context& context) : context_(context), buffer_(context, {kWords}) {}

  // The devices hold the newest bytes, and all blocks are closed. Returns the seconds of the call.
  double launch() {
    ++round_;
    const double seconds = seconds_of([&] {
      context_.launch("step", {kWords}, nuna::block(4096), Step{round_, &halves_}, nuna::write(buffer_));
    });
    context_.wait();
    return seconds;
  }
  void check(std::uint64_t sum) const {
    if (sum != static_cast<std::uint64_t>(kWords / 2) * static_cast<std::uint64_t>(kWords - 1) * round_) {
      fail("the host reads something else than the launch wrote");
    }
  }
  std::byte* data() { return reinterpret_cast<std::byte*>(buffer_.data()); }
  nuna::Buffer<std::uint64_t, 1>& buffer() { return buffer_; }
  const Halves& halves() const { return halves_; }
  // As a program does that has no faults.
  void copy_to(std::byte* to) const {
    for (const std::uint64_t* half : halves_) {
      std::memcpy(to, half, static_cast<std::size_t>(kBytes / 2));
      to += kBytes / 2;
    }
  }

 private:
  nuna::Context& context_;
  nuna::Buffer<std::uint64_t, 1> buffer_;
  Halves halves_{};
  std::uint64_t round_ = 0;
};

// The mechanism alone: a fault copies a block, or not, and opens it for reading or for both.
class Bare {
 public:
  explicit Bare(const Halves& from) : from_(from) {
    only = this;
    const int file = memfd_create("perf-faults", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, kBytes) != 0) fail("no file in memory");
    view_ = mapped(PROT_READ | PROT_WRITE, MAP_SHARED, file);
    shadow_ = mapped(PROT_READ | PROT_WRITE, MAP_SHARED, file);
    ::close(file);
    for (Index i = 0; i < kBytes; i += kPage) {
      view_[i] = std::byte{1};
      shadow_[i] = std::byte{2};
    }
    close_all();
  }
  ~Bare() {
    munmap(view_, static_cast<std::size_t>(kBytes));
    munmap(shadow_, static_cast<std::size_t>(kBytes));
  }
  Bare(const Bare&) = delete;
  Bare& operator=(const Bare&) = delete;

  std::byte* view() const { return view_; }
  void close_all() { protect(view_, kBytes, PROT_NONE); }

  // With the handler in place.
  template <class Work>
  double seconds(bool copies, Work&& work) {
    copies_ = copies;
    struct sigaction action {};
    action.sa_sigaction = &on_fault;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    struct sigaction before {};
    sigaction(SIGSEGV, &action, &before);
    const double taken = seconds_of(std::forward<Work>(work));
    sigaction(SIGSEGV, &before, nullptr);
    return taken;
  }

 private:
  static void on_fault(int, siginfo_t* info, void* context) {
    const Bare& self = *only;
    const Index first = (static_cast<std::byte*>(info->si_addr) - self.view_) / kBlock * kBlock;
    if (first < 0 || first >= kBytes) std::abort();
    if (self.copies_) {
      const Index half = first / (kBytes / 2);
      const auto* const from =
          reinterpret_cast<const std::byte*>(self.from_[static_cast<std::size_t>(half)]) -
          half * (kBytes / 2);
      std::memcpy(self.shadow_ + first, from + first, static_cast<std::size_t>(kBlock));
    }
    const bool write = (static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & 2) != 0;
    if (mprotect(self.view_ + first, static_cast<std::size_t>(kBlock),
                 write ? PROT_READ | PROT_WRITE : PROT_READ) != 0) {
      std::abort();
    }
  }

  static inline Bare* only = nullptr;
  const Halves& from_;
  std::byte* view_ = nullptr;
  std::byte* shadow_ = nullptr;
  bool copies_ = false;
};

void touch(std::byte& byte, bool write) {
  volatile auto& plain = reinterpret_cast<unsigned char&>(byte);
  if (write) {
    plain = 3;
  } else {
    static_cast<void>(+plain);
  }
}

// Reads, or writes, one byte of each of these blocks.
void touch(std::byte* bytes, const std::vector<Index>& blocks, bool writes) {
  for (const Index b : blocks) touch(bytes[b * kBlock + b % kBlock], writes);
}

std::vector<Index> shuffled() {
  std::vector<Index> blocks(static_cast<std::size_t>(kBlocks));
  std::iota(blocks.begin(), blocks.end(), Index{0});
  std::shuffle(blocks.begin(), blocks.end(), std::mt19937_64(1));
  return blocks;
}

void first_touches(const Report& report, nuna::Context& context, Ours& ours) {
  std::byte* const present = mapped(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
  std::memset(present, 1, static_cast<std::size_t>(kBytes));
  const auto read_ours = [](Ours& from) {
    from.launch();
    const std::byte* const bytes = from.data();
    std::uint64_t sum = 0;
    const double seconds = seconds_of([&] { sum = sum_of(bytes); });
    from.check(sum);
    from.buffer().close();
    return 1e3 * seconds;
  };
  const auto read_copy = [&](std::byte* to) {
    std::uint64_t sum = 0;
    const double seconds = seconds_of([&] {
      ours.copy_to(to);
      sum = sum_of(to);
    });
    ours.check(sum);
    return 1e3 * seconds;
  };
  report.row(
      {"read 1 GiB, first touch, pages present / memcpy, read", "ms", Better::less, 0.8},
      [&] { return read_ours(ours); },
      [&] {
        ours.launch();
        return read_copy(present);
      });
  munmap(present, static_cast<std::size_t>(kBytes));
  report.row(
      {"read 1 GiB, first touch, no pages yet / memcpy, read", "ms", Better::less, kNoAim},
      [&] {
        Ours fresh(context);
        return read_ours(fresh);
      },
      [&] {
        ours.launch();
        std::byte* const absent = mapped(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
        const double milliseconds = read_copy(absent);
        munmap(absent, static_cast<std::size_t>(kBytes));
        return milliseconds;
      });
}

void scattered_touches(const Report& report, Ours& ours, Bare& bare) {
  const std::vector<Index> all = shuffled();
  const std::vector<Index> few(all.begin(), all.begin() + kFew);
  for (const bool writes : {false, true}) {
    report.row(
        {std::string("64 KiB blocks of 1 GiB at random, ") + (writes ? "written" : "read") +
             " / bare fault, copy",
         "us", Better::less, 1 / 1.3},
        [&] {
          ours.launch();
          std::byte* const bytes = ours.data();
          const double seconds = seconds_of([&] { touch(bytes, all, writes); });
          ours.buffer().close();
          return 1e6 * seconds / kBlocks;
        },
        [&] {
          ours.launch();
          const double seconds = bare.seconds(true, [&] { touch(bare.view(), all, writes); });
          bare.close_all();
          return 1e6 * seconds / kBlocks;
        });
  }
  ours.launch();
  const auto view = ours.buffer().host(nuna::Access::read_write);
  keep(sum_of(view.data()));
  for (const bool writes : {false, true}) {
    report.row(
        {std::string("one fault, bytes are there, ") + (writes ? "write" : "read") + " / bare fault", "us",
         Better::less, 1 / 1.3},
        [&] {
          ours.buffer().host(nuna::Access::read_write).release();
          auto* const bytes = reinterpret_cast<std::byte*>(view.data());
          return 1e6 * seconds_of([&] { touch(bytes, few, writes); }) / kFew;
        },
        [&] {
          const double seconds = bare.seconds(false, [&] { touch(bare.view(), few, writes); });
          bare.close_all();
          return 1e6 * seconds / kFew;
        });
  }
}

// The peer opens its pages by faults, too, so that its page tables are in the same caches.
void closings(const Report& report, Ours& ours, Bare& bare) {
  for (const bool writes : {false, true}) {
    const auto use = [&](std::byte* bytes) {
      for (Index i = 0; i < kBytes; i += kPage) touch(bytes[i], writes);
    };
    report.row(
        {std::string("launch that closes 1 GiB open to ") + (writes ? "write" : "read") + " / one mprotect",
         "ms", Better::less, 1 / 1.5},
        [&] {
          use(ours.data());
          return 1e3 * ours.launch();
        },
        [&] {
          bare.seconds(true, [&] { use(bare.view()); });
          return 1e3 * seconds_of([&] { bare.close_all(); });
        });
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Report report(argc, argv);
  nuna::Options options;
  options.devices = 2;
  options.threads_per_device = 1;
  nuna::Context context = nuna::Context::self(options);
  Ours ours(context);
  ours.launch();
  ours.check(sum_of(ours.data()));
  if (ours.halves()[1] - ours.halves()[0] == kWords / 2) fail("the devices share their memory");
  first_touches(report, context, ours);
  Bare bare(ours.halves());
  scattered_touches(report, ours, bare);
  closings(report, ours, bare);
  return 0;
}
