// Runs blocks: each thread until it waits or ends, then the next; then those that waited for each other go on.

#include <cuda.h>

#include <algorithm>
#include <cstdio>

#include "ptx/machine.hpp"

namespace standin::ptx {
namespace {

/// A thread that spins until another has written lets it run after so many instructions.
constexpr std::uint64_t kSlice = 1 << 20;

/// Runs until the thread waits, ends, fails, or its slice is over.
std::uint64_t run(Thread& t, std::uint64_t most) {
  std::uint64_t done = 0;
  while (done < most) {
    const Instruction& i = *t.next++;
    ++done;
    if (i.guard != 0 && t.r[i.guard] != i.guard_value) continue;
    if (!i.run(t, i)) break;
  }
  return done;
}

class Runner {
 public:
  Runner(const Launch& launch, Block& block) : code_(*launch.code), launch_(launch), block_(block) {
    size_ = launch.block.x * launch.block.y * launch.block.z;
    const std::uint32_t kept = code_.independent ? 1 : size_;
    registers_.resize(std::size_t{kept} * code_.slots);
    threads_.resize(kept);
    for (std::uint32_t n = 0; n < kept; ++n) {
      Thread& t = threads_[n];
      t.block = &block_;
      t.frames.push_back(std::make_unique<Frame>());
      t.frame().code = &code_;
      t.frame().registers = registers_.data() + std::size_t{n} * code_.slots;
      for (const auto& [slot, bits] : code_.constants) t.frame().registers[slot] = bits;
    }
  }

  void run_block() {
    std::fill(block_.shared.begin(), block_.shared.end(), std::uint8_t{0xff});
    if (code_.independent) {
      for (std::uint32_t n = 0; n < size_ && block_.fault == 0; ++n) {
        start(threads_[0], n);
        while (threads_[0].status == Status::kReady) block_.instructions += run(threads_[0], UINT64_MAX);
      }
      return;
    }
    for (std::uint32_t n = 0; n < size_; ++n) start(threads_[n], n);
    while (block_.fault == 0 && round()) {
    }
  }

 private:
  void start(Thread& t, std::uint32_t number) {
    t.number = number;
    t.index = {number % launch_.block.x, number / launch_.block.x % launch_.block.y,
               number / launch_.block.x / launch_.block.y};
    t.frames.resize(1);
    t.r = t.frame().registers;
    t.next = code_.instructions.data();
    t.status = Status::kReady;
    t.local.resize(code_.local_bytes);
  }

  /// False when all have ended.
  bool round() {
    bool ran = false, alive = false;
    for (std::uint32_t first = 0; first < size_; first += 32) {
      const std::uint32_t count = std::min(32u, size_ - first);
      do {
        for (std::uint32_t n = first; n < first + count; ++n) {
          if (threads_[n].status != Status::kReady) continue;
          block_.instructions += run(threads_[n], kSlice);
          if (block_.fault != 0) return false;
          ran = true;
        }
      } while (resolve_warp(&threads_[first], count, false));
      const bool ready = std::any_of(&threads_[first], &threads_[first] + count,
                                     [](const Thread& t) { return t.status == Status::kReady; });
      if (!ready && resolve_warp(&threads_[first], count, true)) ran = true;
    }
    for (const Thread& t : threads_) alive = alive || t.status != Status::kExited;
    if (!alive) return false;
    if (release_barriers() || ran) return true;
    for (Thread& t : threads_)
      if (t.status != Status::kExited)
        return t.fail(CUDA_ERROR_LAUNCH_TIMEOUT, "the block's threads wait for each other for ever",
                      *t.waiting);
    return false;
  }

  /// Lets those go on whose barrier all threads have reached that have not ended.
  bool release_barriers() {
    bool any = false;
    for (std::uint32_t id = 0; id < 16; ++id) {
      std::vector<Thread*> here;
      std::uint32_t needed = 0;
      for (Thread& t : threads_) {
        needed += t.status != Status::kExited ? 1 : 0;
        if (t.status == Status::kBarrier && t.get<std::uint32_t>(t.waiting->a) == id) here.push_back(&t);
      }
      if (here.empty()) continue;
      const Instruction& first = *here.front()->waiting;
      if (first.b != 0) needed = here.front()->get<std::uint32_t>(first.b);
      if (here.size() < needed) continue;
      reduce(here);
      for (Thread* t : here) t->status = Status::kReady;
      any = true;
    }
    return any;
  }

  static void reduce(const std::vector<Thread*>& here) {
    std::uint64_t yes = 0;
    for (const Thread* t : here) yes += t->r[t->waiting->c] != 0 ? 1 : 0;
    for (Thread* t : here) {
      const Instruction& i = *t->waiting;
      if (i.option == 1) t->r[i.d] = yes;
      if (i.option == 2) t->r[i.d] = yes == here.size() ? 1 : 0;
      if (i.option == 3) t->r[i.d] = yes > 0 ? 1 : 0;
    }
  }

  const Code& code_;
  const Launch& launch_;
  Block& block_;
  std::uint32_t size_ = 0;
  std::vector<std::uint64_t> registers_;
  std::vector<Thread> threads_;
};

}  // namespace

std::uint8_t* Block::look_up(std::uint64_t address, std::uint64_t size_bytes, bool write, Recent& recent) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    const auto piece = reach.at(address, write);
    if (piece.bytes != nullptr && piece.size_bytes >= size_bytes) {
      const Range& range = *piece.range;
      recent = {range.begin, range.end, range.bytes, reach.at(address, true).bytes != nullptr};
      return piece.bytes;
    }
    // Memory may have come since the kernel began.
    if (attempt == 0) reach = look();
  }
  return nullptr;
}

bool Thread::fail(int result, std::string what, const Instruction& at) {
  status = Status::kFault;
  block->fault = result;
  char where[160];
  std::snprintf(where, sizeof where, " (PTX line %d, block %u,%u,%u, thread %u,%u,%u)", at.line,
                block->index.x, block->index.y, block->index.z, index.x, index.y, index.z);
  block->complaint = std::move(what) + where;
  return false;
}

void Thread::enter(const Code& code, const Instruction& call) {
  auto made = std::make_unique<Frame>();
  made->code = &code;
  made->back = next;
  made->call = call.extra;
  made->own_registers.resize(code.slots);
  made->registers = made->own_registers.data();
  made->local_base = (local.size() + 15) / 16 * 16;
  local.resize(made->local_base + code.local_bytes);
  for (const auto& [slot, bits] : code.constants) made->registers[slot] = bits;
  for (const auto& each : call.extra->arguments)
    std::memcpy(local.data() + made->local_base + each.to, frame_bytes() + each.from, each.size_bytes);
  r = made->registers;
  next = code.instructions.data();
  frames.push_back(std::move(made));
}

bool Thread::leave() {
  if (frames.size() == 1) {
    status = Status::kExited;
    return false;
  }
  const auto left = std::move(frames.back());
  frames.pop_back();
  for (const auto& each : left->call->results)
    std::memcpy(frame_bytes() + each.to, local.data() + left->local_base + each.from, each.size_bytes);
  local.resize(left->local_base);
  r = frame().registers;
  next = left->back;
  return true;
}

int execute(const Launch& launch, std::uint64_t& instructions) {
  Block block;
  block.grid = launch.grid;
  block.size = launch.block;
  block.parameters = launch.parameters.data();
  block.parameter_bytes = launch.parameters.size();
  block.shared.resize(launch.code->shared_bytes + launch.dynamic_shared_bytes);
  block.look = launch.look;
  block.reach = launch.look();
  Runner runner(launch, block);
  for (std::uint32_t z = 0; z < launch.grid.z; ++z)
    for (std::uint32_t y = 0; y < launch.grid.y; ++y)
      for (std::uint32_t x = 0; x < launch.grid.x && block.fault == 0; ++x) {
        block.index = {x, y, z};
        runner.run_block();
      }
  instructions = block.instructions;
  if (block.fault != 0)
    std::fprintf(stderr, "cuda_standin: kernel %s: %s\n", launch.code->name.c_str(), block.complaint.c_str());
  return block.fault;
}

}  // namespace standin::ptx
