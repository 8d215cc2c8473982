// Host threads that use buffers by plain pointers while launches and copies are in flight (HPE 3.3, 4.4): every element keeps
// the value that its owner gave it last, whoever looks.
//
// The elements of each buffer are dealt out in runs of random lengths, which do not respect blocks: some belong to the thread
// that launches, some to one of the others, some to nobody any more (everybody reads them). Nobody touches another's elements,
// so the program has no data race; but blocks, pages and residencies are shared all the time.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "base/log.hpp"
#include "nuna/nuna.hpp"
#include "property/array_model.hpp"
#include "property/random.hpp"
#include "property/script.hpp"
#ifdef NUNA_WITH_CUDA
#include "device/cuda/cuda_device.hpp"
#endif

namespace nuna::property {
namespace {

struct Mix {
  std::uint32_t by;
  NUNA_KERNEL void operator()(Thread t, View<std::uint32_t, 1> x) const {
    std::uint32_t& value = x(t.global(0));
    value = value * 2654435761U + by;
  }
};
std::uint32_t mix(std::uint32_t value, std::uint32_t by) { return value * 2654435761U + by; }

struct MixFrom {
  NUNA_KERNEL void operator()(Thread t, View<const std::uint32_t, 1> from, View<std::uint32_t, 1> x) const {
    x(t.global(0)) = from(t.global(0)) ^ 0x5a5a5a5aU;
  }
};

constexpr int kNobody = 0;  // constant: read by all
constexpr int kLauncher = 1;

struct Run {
  Interval elements;
  int owner = 0;
};

class Stress {
 public:
  Stress(std::uint64_t seed, DeviceKind kind)
      : random_(seed), kind_(kind), context_(Context::self(options())) {
    threads_ = random_.number(1, 4);
    const int buffers = random_.number(1, 3);
    for (int b = 0; b < buffers; ++b) add_buffer();
  }

  void run() {
    const int phases = random_.number(1, 3);
    for (int phase = 0; phase < phases; ++phase) {
      std::vector<std::thread> others;
      std::vector<std::exception_ptr> failures(static_cast<std::size_t>(threads_) + 2);
      for (int owner = kLauncher + 1; owner < kLauncher + 1 + threads_; ++owner) {
        others.emplace_back(
            [this, owner, seed = random_.bits(), &failure = failures[static_cast<std::size_t>(owner)]] {
              try {
                Random random(seed);
                const int steps = random.number(5, 60);
                for (int i = 0; i < steps && !failed_.load(); ++i) touch(owner, random);
              } catch (...) {
                failed_.store(true);
                failure = std::current_exception();
              }
            });
      }
      try {
        const int steps = random_.number(5, 40);
        for (int i = 0; i < steps && !failed_.load(); ++i) {
          if (random_.one_in(3)) {
            touch(kLauncher, random_);
          } else {
            launch();
          }
        }
      } catch (...) {
        failed_.store(true);
        failures[kLauncher] = std::current_exception();
      }
      for (std::thread& t : others) t.join();
      for (const auto& failure : failures) {
        if (failure) std::rethrow_exception(failure);
      }
      launch_on_everything();
      check_everything();
    }
    context_.wait();
  }

 private:
  struct Data {
    Buffer<std::uint32_t, 1> buffer;
    std::vector<std::uint32_t> model;
    std::vector<Run> runs;
    std::uint32_t* pointer = nullptr;  // of data()
  };

  Options options() {
    Options o;
    o.kind = kind_;
    o.devices = random_.number(1, 3);
    o.threads_per_device = kind_ == DeviceKind::host ? random_.number(1, 2) : 0;
    return o;
  }

  void add_buffer() {
    const Index size = random_.between(100, random_.one_in(3) ? 200'000 : 20'000);
    auto d = std::make_unique<Data>(Data{Buffer<std::uint32_t, 1>(context_, {size}), {}, {}});
    d->model.resize(static_cast<std::size_t>(size));
    d->buffer.set_block(Index{4096} << random_.number(0, 4));
    d->pointer = d->buffer.data();
    const Index longest = random_.of(std::vector<Index>{40, 700, 5000, 60'000});
    for (Index at = 0; at < size;) {
      const Index end = std::min(size, at + random_.between(1, longest));
      d->runs.push_back({{at, end}, random_.number(0, kLauncher + threads_)});
      at = end;
    }
    for (Index i = 0; i < size; ++i)
      d->model[static_cast<std::size_t>(i)] = static_cast<std::uint32_t>(i * 7);
    if (random_.one_in(2)) {
      std::copy(d->model.begin(), d->model.end(), d->pointer);
    } else {
      context_.copy(d->pointer, d->model.data(), d->model.size() * 4);
    }
    data_.push_back(std::move(d));
  }

  Data& any(Random& random) {
    return *data_[static_cast<std::size_t>(random.between(0, Index(data_.size()) - 1))];
  }

  /// A part of a run of `owner`; empty if there is none.
  static Interval own(const Data& d, int owner, Random& random) {
    std::vector<Interval> runs;
    for (const Run& r : d.runs) {
      if (r.owner == owner) runs.push_back(r.elements);
    }
    if (runs.empty()) return {0, 0};
    const Interval run = random.of(runs);
    const Interval part = random.one_in(3) ? Interval{0, run.size()} : random.within(run.size());
    return {run.begin + part.begin, run.begin + part.end};
  }

  static void expect(const Data& d, const std::uint32_t* p, Index i) {
    const std::uint32_t is = *static_cast<const volatile std::uint32_t*>(p + i);
    const std::uint32_t must_be = d.model[static_cast<std::size_t>(i)];
    if (is == must_be) return;
    throw Mismatch("element " + std::to_string(i) + " of " + std::to_string(d.model.size()) + " is " +
                   std::to_string(is) + " and must be " + std::to_string(must_be));
  }

  /// What one thread does to its own elements, without or with calls.
  void touch(int owner, Random& random) {
    Data& d = any(random);
    std::uint32_t* const p = d.pointer;
    const Interval e = own(d, owner, random);
    const Interval constant = own(d, kNobody, random);
    if (!constant.empty()) {
      for (int i = 0; i < 8; ++i) expect(d, p, random.between(constant.begin, constant.end - 1));
    }
    if (e.empty()) return;
    auto& model = d.model;
    const auto give = [&](std::uint32_t* to, Index i) {
      const auto value = static_cast<std::uint32_t>(random.bits());
      to[i] = value;
      model[static_cast<std::size_t>(i)] = value;
    };
    switch (random.number(0, 9)) {
      case 0:
      case 1:  // here and there
        for (int n = 0; n < 20; ++n) {
          const Index i = random.between(e.begin, e.end - 1);
          expect(d, p, i);
          if (random.one_in(2)) give(p, i);
        }
        break;
      case 2:  // in a row
        for (Index i = e.begin; i < e.end; ++i) expect(d, p, i);
        break;
      case 3:
        for (Index i = e.begin; i < e.end; ++i) give(p, i);
        break;
      case 4: {
        const auto v = d.buffer.host(Box{e}, Access::read);
        for (Index i = e.begin; i < e.end; i += 1 + e.size() / 50) expect(d, &v(0), i);
        break;
      }
      case 5: {
        auto v = d.buffer.host(Box{e}, Access::write);
        for (Index i = e.begin; i < e.end; ++i) give(&v(0), i);
        if (random.one_in(2)) v.close();
        break;
      }
      case 6: {
        auto v = d.buffer.host(Box{e}, Access::read_write);
        if (random.one_in(2)) v.acquire();
        for (Index i = e.begin; i < e.end; i += 1 + e.size() / 50) {
          expect(d, &v(0), i);
          give(&v(0), i);
        }
        if (random.one_in(2)) v.release();
        break;
      }
      case 7: {
        const auto value = static_cast<std::uint32_t>(random.bits());
        context_.fill(d.buffer, Box{e}, value);
        std::fill(model.begin() + e.begin, model.begin() + e.end, value);
        break;
      }
      case 8: {  // between own elements, by pointers, at any byte
        Data& other = any(random);
        const Interval to = own(other, owner, random);
        if (to.empty()) break;
        if (&other == &d && !to.intersect(e).empty()) break;
        const Index count = std::min(to.size(), e.size());
        const auto bytes = static_cast<std::size_t>(count) * 4;
        const std::size_t skip = random.one_in(3) ? static_cast<std::size_t>(random.number(0, 3)) : 0;
        if (bytes <= skip) break;
        context_.copy(reinterpret_cast<char*>(other.pointer + to.begin) + skip,
                      reinterpret_cast<const char*>(p + e.begin) + skip, bytes - skip);
        std::memcpy(reinterpret_cast<char*>(other.model.data() + to.begin) + skip,
                    reinterpret_cast<const char*>(model.data() + e.begin) + skip, bytes - skip);
        break;
      }
      default: {  // to and from the program's own memory
        std::vector<std::uint32_t> away(static_cast<std::size_t>(e.size()));
        context_.copy(away.data(), p + e.begin, away.size() * 4);
        for (Index i = e.begin; i < e.end; i += 1 + e.size() / 50) {
          if (away[static_cast<std::size_t>(i - e.begin)] != model[static_cast<std::size_t>(i)])
            throw Mismatch("a copy brought another value for element " + std::to_string(i));
        }
        for (auto& value : away) value = static_cast<std::uint32_t>(random.bits());
        context_.copy(p + e.begin, away.data(), away.size() * 4);
        std::copy(away.begin(), away.end(), model.begin() + e.begin);
      }
    }
  }

  void launch() {
    Data& d = any(random_);
    const Interval e = own(d, kLauncher, random_);
    if (e.empty() || e.size() < 3 * 4) return;
    const auto by = static_cast<std::uint32_t>(random_.bits());
    if (kind_ == DeviceKind::cuda) {
      context_.fill(d.buffer, Box{e}, by);
      std::fill(d.model.begin() + e.begin, d.model.begin() + e.end, by);
      return;
    }
    Data& from = any(random_);
    if (&from != &d && random_.one_in(2) && from.model.size() >= d.model.size()) {
      // What it reads must not change meanwhile: constants, or its own.
      for (const Run& r : from.runs) {
        if (r.owner > kLauncher && !r.elements.intersect(e).empty()) return;
      }
      context_.launch("mix from", Domain(Box{e}), block(1), MixFrom{}, nuna::read(from.buffer),
                      nuna::write(d.buffer));
      for (Index i = e.begin; i < e.end; ++i)
        d.model[static_cast<std::size_t>(i)] = from.model[static_cast<std::size_t>(i)] ^ 0x5a5a5a5aU;
      return;
    }
    context_.launch("mix", Domain(Box{e}), block(1), Mix{by}, nuna::read_write(d.buffer));
    for (Index i = e.begin; i < e.end; ++i)
      d.model[static_cast<std::size_t>(i)] = mix(d.model[static_cast<std::size_t>(i)], by);
  }

  void launch_on_everything() {
    for (auto& d : data_) {
      const auto by = static_cast<std::uint32_t>(random_.bits());
      if (kind_ == DeviceKind::cuda) {
        const Interval e = random_.within(d->buffer.size());
        context_.fill(d->buffer, Box{e}, by);
        std::fill(d->model.begin() + e.begin, d->model.begin() + e.end, by);
        continue;
      }
      context_.launch("mix", {d->buffer.size()}, block(1), Mix{by}, nuna::read_write(d->buffer));
      for (auto& value : d->model) value = mix(value, by);
    }
  }

  void check_everything() {
    for (auto& d : data_) {
      for (Index i = 0; i < d->buffer.size(); ++i) expect(*d, d->pointer, i);
    }
  }

  Random random_;
  DeviceKind kind_;
  Context context_;
  int threads_ = 0;
  std::vector<std::unique_ptr<Data>> data_;
  std::atomic<bool> failed_{false};
};

TEST(HostPointers, OfThreadsSeeTheirOwnValuesBesideLaunchesAndCopies) {
  const base::LogCapture quiet(base::LogLevel::error);
  for_each_seed(500, [](std::uint64_t seed) {
    const bool poison = seed % 3 == 0;
    if (poison) ::setenv("NUNA_POISON", "1", 1);
    Stress(seed, DeviceKind::host).run();
    ::unsetenv("NUNA_POISON");
  });
  ::unsetenv("NUNA_POISON");
}

#ifdef NUNA_WITH_CUDA
TEST(HostPointers, OfThreadsSeeTheirOwnValuesBesideGpus) {
  ASSERT_FALSE(device::find_cards().cards.empty()) << device::find_cards().why_none;
  const base::LogCapture quiet(base::LogLevel::error);
  ::setenv("NUNA_MEMORY_LIMIT", "32 MiB", 1);
  for_each_seed(60, [](std::uint64_t seed) {
    ::setenv("NUNA_CUDA_MEMORY", seed % 2 == 0 ? "mapped" : "plain", 1);
    Stress(seed, DeviceKind::cuda).run();
  });
  ::unsetenv("NUNA_CUDA_MEMORY");
  ::unsetenv("NUNA_MEMORY_LIMIT");
}
#endif

}  // namespace
}  // namespace nuna::property
