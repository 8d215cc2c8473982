#include "device/host/host_device.hpp"

#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include "base/check.hpp"
#include "base/failure.hpp"
#include "base/log.hpp"
#include "base/worker_thread.hpp"
#include "device/host/operation_ring.hpp"
#include "device/host/place_memory.hpp"
#include "device/host/split.hpp"
#include "device/host/team.hpp"
#include "device/region_bytes.hpp"
#include "nuna/error.hpp"

namespace nuna::device {
namespace host {
namespace {

constexpr Index kTeamBytes = Index{1} << 20;  // above it a copy is worth waking a team

struct Operation {
  enum class Kind { kernel, copy, fill, join };

  Kind kind = Kind::join;
  std::uint64_t number = 0;  ///< on the device's timeline
  std::byte value{};
  Region to;
  Region from;
  KernelCall call;
  absl::InlinedVector<base::Ticket, 8> after;
};

std::chrono::nanoseconds spin_time(const HostDeviceConfig& config) {
  if (config.spin) return *config.spin;
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  const bool known = sched_getaffinity(0, sizeof allowed, &allowed) == 0;
  const int cores = known ? CPU_COUNT(&allowed) : static_cast<int>(std::thread::hardware_concurrency());
  return config.threads < cores ? std::chrono::microseconds(20) : std::chrono::nanoseconds(0);
}

PlaceMemory::Backing backing_of(const HostDeviceConfig& config) {
  if (!config.shared_mapping) return PlaceMemory::Backing::anonymous;
  return config.shares_host_memory && !config.closed ? PlaceMemory::Backing::shared
                                                     : PlaceMemory::Backing::closed_shared;
}

class HostDevice final : public Device {
 public:
  explicit HostDevice(const HostDeviceConfig& config)
      : properties_{config.name, config.threads, config.memory_bytes, config.shares_host_memory, true},
        base_(config.base),
        range_bytes_(static_cast<Index>(config.range_bytes)),
        memory_(config.name, config.base, config.range_bytes, config.memory_bytes, backing_of(config),
                config.before_giving_back),
        timeline_(*config.bell),
        recorder_(config.recorder),
        track_(config.track),
        stats_(config.stats),
        submitted_bell_(spin_time(config)),
        team_(config.threads, spin_time(config), config.name),
        leader_(base::start_worker(config.name, [this] { work(); })) {}

  ~HostDevice() override {
    stop_.store(true, std::memory_order_release);
    submitted_bell_.ring();
    leader_.join();
  }
  HostDevice(const HostDevice&) = delete;
  HostDevice& operator=(const HostDevice&) = delete;

  const Properties& properties() const override { return properties_; }
  std::byte* base() const override { return base_; }
  Index range_bytes() const override { return range_bytes_; }
  bool holds(const void*) const override { return properties_.shares_host_memory; }
  void commit(Interval bytes) override { memory_.commit(bytes); }
  void release(Interval bytes) override { memory_.release(bytes); }

  base::Ticket run(KernelCall call, After after) override {
    base::check(call.code.form == detail::Form::parts ? call.code.part != nullptr : call.code.run != nullptr,
                "a kernel call has a function");
    if (call.brief && can_begin(after)) return run_here(call);
    ring_.back().call = std::move(call);
    return submit(Operation::Kind::kernel, after);
  }

  base::Ticket copy(const Region& to, const Region& from, After after) override {
    base::check(bytes(to) == bytes(from), "both regions of a copy have the same number of bytes");
    base::check(!overlap(to, from) || identical(to, from), "the regions of a copy do not overlap");
    Operation& operation = ring_.back();
    operation.to = to;
    operation.from = from;
    return submit(Operation::Kind::copy, after);
  }

  base::Ticket fill(const Region& to, std::byte value, After after) override {
    Operation& operation = ring_.back();
    operation.to = to;
    operation.value = value;
    return submit(Operation::Kind::fill, after);
  }

  base::Ticket join(After after) override { return submit(Operation::Kind::join, after); }

 private:
  // ---- the submitter's side ----

  base::Ticket submit(Operation::Kind kind, After after) {
    Operation& operation = ring_.back();
    operation.kind = kind;
    operation.number = submitted_ + 1;
    operation.after.clear();
    for (const base::Ticket& ticket : after) {
      const bool earlier_here = ticket.line == &timeline_;
      base::check(!earlier_here || ticket.value <= submitted_,
                  "an operation waits for earlier submissions only");
      if (!ticket.done() || ticket.failure() != nullptr) operation.after.push_back(ticket);
    }
    ring_.push();
    submitted_bell_.ring();
    return {&timeline_, ++submitted_};
  }

  // The leader is idle then, and stays so until the next submission.
  bool can_begin(After after) const {
    return recorder_ == nullptr && timeline_.reached(submitted_) &&
           std::all_of(after.begin(), after.end(),
                       [](const base::Ticket& t) { return t.done() && t.failure() == nullptr; });
  }

  base::Ticket run_here(const KernelCall& call) {
    ++submitted_;
    const auto alone = [](int parts, const auto& run) {
      if (parts > 0) run(0);
    };
    if (std::exception_ptr failure = run_kernel(call, 1, alone))
      timeline_.fail(submitted_, std::move(failure));
    timeline_.complete(submitted_);
    return {&timeline_, submitted_};
  }

  // ---- the leader's side ----

  void work() {
    for (;;) {
      Operation* operation = next();
      if (operation == nullptr) return;
      const std::uint64_t number = operation->number;
      if (std::exception_ptr failure = carry_out(*operation)) timeline_.fail(number, std::move(failure));
      // What the closure holds is released before anybody learns that the operation is complete.
      operation->call.closure.reset();
      ring_.pop();
      timeline_.complete(number);
      timeline_.bell().pass();
    }
  }

  // Null when the device ends and the queue is empty.
  Operation* next() {
    if (Operation* operation = ring_.front()) return operation;
    submitted_bell_.wait([this] { return !ring_.empty() || stop_.load(std::memory_order_acquire); });
    return ring_.front();
  }

  std::exception_ptr carry_out(const Operation& operation) {
    std::exception_ptr failure;
    for (const base::Ticket& ticket : operation.after) {
      ticket.wait();
      if (failure == nullptr) failure = ticket.failure();
    }
    if (failure != nullptr) return failure;
    const trace::Span span(recorder_, track_, name_of(operation), category_of(operation.kind),
                           {.bytes = operation.kind == Operation::Kind::kernel ? 0 : bytes_of(operation)});
    switch (operation.kind) {
      case Operation::Kind::kernel:
        return run_kernel(operation.call, team_.threads(),
                          [this](int parts, const auto& run) { team_.run(parts, run); });
      case Operation::Kind::copy:
        copy_regions(operation);
        break;
      case Operation::Kind::fill:
        share_bytes(bytes(operation.to),
                    [&](Interval part) { fill_part(operation.to, operation.value, part); });
        break;
      case Operation::Kind::join:
        break;
    }
    return nullptr;
  }

  static std::string_view name_of(const Operation& operation) {
    switch (operation.kind) {
      case Operation::Kind::kernel:
        return operation.call.name;
      case Operation::Kind::copy:
        return "copy";
      case Operation::Kind::fill:
        return "fill";
      case Operation::Kind::join:
        break;
    }
    return "join";
  }
  static trace::Category category_of(Operation::Kind kind) {
    switch (kind) {
      case Operation::Kind::kernel:
        return trace::Category::launch;
      case Operation::Kind::copy:
        return trace::Category::copy;
      case Operation::Kind::fill:
        return trace::Category::fill;
      case Operation::Kind::join:
        break;
    }
    return trace::Category::wait;
  }
  static std::int64_t bytes_of(const Operation& operation) {
    return operation.kind == Operation::Kind::join ? 0 : bytes(operation.to);
  }

  // In at most so many parts, for each of which `share` calls a function.
  template <class Share>
  std::exception_ptr run_kernel(const KernelCall& call, int most_parts, Share share) {
    try {
      if (call.code.form == detail::Form::parts) {
        call.code.part(call.closure.get(), call.threads, call.views.data(), detail::PartPlace{});
        return nullptr;
      }
      const bool by_block = call.code.form == detail::Form::blocks;
      const KernelSplit split(call.threads, most_parts, by_block ? call.blocks : detail::BlockGrid{});
      share(split.parts(),
            [&](int part) { call.code.run(call.closure.get(), split.part(part), call.views.data()); });
      return nullptr;
    } catch (...) {
      return std::make_exception_ptr(Error(
          ErrorCode::kernel_failed, "kernel '" + std::string(call.name) + "' failed on device " +
                                        properties_.name + ": " + base::text_of(std::current_exception())));
    }
  }

  void copy_regions(const Operation& operation) {
    const auto start = std::chrono::steady_clock::now();
    share_bytes(bytes(operation.to), [&](Interval part) { copy_part(operation.to, operation.from, part); });
    if (stats_ != nullptr) stats_->spent(trace::Phase::transfer, std::chrono::steady_clock::now() - start);
  }

  template <class Work>
  void share_bytes(Index bytes, Work work) {
    const auto parts = std::min<Index>(team_.threads(), (bytes + kTeamBytes - 1) / kTeamBytes);
    if (bytes <= kTeamBytes || parts == 1) return work(Interval{0, bytes});
    // Cut at pages: two threads never write to one page of a contiguous region.
    constexpr Index kPage = 4096;
    const Interval pages{0, (bytes + kPage - 1) / kPage};
    team_.run(static_cast<int>(parts), [&](int part) {
      const Interval mine = part_of(pages, part, static_cast<int>(parts));
      work(Interval{mine.begin * kPage, std::min(mine.end * kPage, bytes)});
    });
  }

  const Properties properties_;
  std::byte* const base_;
  const Index range_bytes_;
  PlaceMemory memory_;
  base::Timeline timeline_;
  trace::Recorder* const recorder_;
  const trace::TrackId track_;
  trace::Stats* const stats_;
  OperationRing<Operation> ring_;
  std::uint64_t submitted_ = 0;  // the submitter's
  base::Doorbell submitted_bell_;
  std::atomic<bool> stop_{false};
  Team team_;
  std::thread leader_;  // last: everything above exists before it starts, and until it ended
};

}  // namespace
}  // namespace host

std::unique_ptr<Device> make_host_device(const HostDeviceConfig& config) {
  base::check(config.bell != nullptr, "a host device has a doorbell to ring");
  if (config.closed && mprotect(config.base, config.range_bytes, PROT_NONE) != 0)
    base::warn_once("close " + config.name, "the free memory of device " + config.name + " cannot be closed");
  return std::make_unique<host::HostDevice>(config);
}

}  // namespace nuna::device
