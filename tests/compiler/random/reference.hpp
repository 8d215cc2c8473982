#pragma once
// A plain interpreter of CUDA kernels for g++: the same text, in which every thread of a block is a fiber that runs up to
// its next barrier, shuffle or vote. Blocks run one after the other. With `backwards` fibers take turns in the opposite
// order: a program whose results depend on that has a race, and is no test.

#include <ucontext.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

struct dim3 {
  unsigned x, y, z;
  dim3(unsigned of_x = 1, unsigned of_y = 1, unsigned of_z = 1) : x(of_x), y(of_y), z(of_z) {}
};

namespace reference {

constexpr unsigned kWarp = 32;
constexpr std::size_t kStack = 64 * 1024;

enum class Waits { no, for_block, for_warp, ended };

struct Fiber {
  ucontext_t context;
  std::unique_ptr<char[]> stack;
  dim3 thread;
  unsigned lane = 0;
  Waits waits = Waits::no;
  unsigned mask = 0;                 // of a warp's meeting
  std::uint64_t given = 0;           // what it brings to a meeting
  unsigned present = 0;              // who met
  std::uint64_t values[kWarp] = {};  // what they brought; of a block's meeting [0] is the sum
};

inline bool backwards = false;
inline dim3 block_index, block_size, grid_size;
alignas(64) inline unsigned char dynamic_shared[65536];
inline ucontext_t scheduler;
inline std::vector<Fiber> fibers;
inline Fiber* running = nullptr;
inline std::function<void()> kernel;

inline void suspend(Waits why) {
  running->waits = why;
  swapcontext(&running->context, &scheduler);
}

inline Fiber& meet_block(std::uint64_t given) {
  running->given = given;
  suspend(Waits::for_block);
  return *running;
}

inline Fiber& meet_warp(unsigned mask, std::uint64_t given) {
  if ((mask >> running->lane & 1u) == 0) {
    std::printf("the program is wrong: a lane calls with a mask without it\n");
    std::exit(3);
  }
  running->given = given;
  running->mask = mask;
  suspend(Waits::for_warp);
  return *running;
}

inline void run_fiber() {
  kernel();
  suspend(Waits::ended);
}

/// Lets the block go on if all that have not ended wait for it.
inline bool release_block() {
  std::uint64_t sum = 0;
  bool any = false;
  for (const Fiber& fiber : fibers) {
    if (fiber.waits == Waits::ended) continue;
    if (fiber.waits != Waits::for_block) return false;
    any = true;
    sum += fiber.given;
  }
  for (Fiber& fiber : fibers) {
    if (fiber.waits != Waits::for_block) continue;
    fiber.values[0] = sum;
    fiber.waits = Waits::no;
  }
  return any;
}

/// Lets the lanes of this lane's mask go on if all of them that have not ended are here with the same mask.
inline bool release_lanes(std::size_t index) {
  const std::size_t first = index / kWarp * kWarp;
  const unsigned mask = fibers[index].mask;
  unsigned present = 0;
  for (unsigned lane = 0; lane < kWarp && first + lane < fibers.size(); ++lane) {
    const Fiber& fiber = fibers[first + lane];
    if ((mask >> lane & 1u) == 0 || fiber.waits == Waits::ended) continue;
    if (fiber.waits != Waits::for_warp || fiber.mask != mask) return false;
    present |= 1u << lane;
  }
  std::uint64_t values[kWarp] = {};
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    if (present >> lane & 1u) values[lane] = fibers[first + lane].given;
  }
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    if ((present >> lane & 1u) == 0) continue;
    Fiber& fiber = fibers[first + lane];
    std::memcpy(fiber.values, values, sizeof values);
    fiber.present = present;
    fiber.waits = Waits::no;
  }
  return true;
}

inline void start_fibers() {
  const std::size_t count = std::size_t{block_size.x} * block_size.y * block_size.z;
  fibers.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    Fiber& fiber = fibers[i];
    fiber.thread = dim3(i % block_size.x, i / block_size.x % block_size.y, i / block_size.x / block_size.y);
    fiber.lane = i % kWarp;
    fiber.waits = Waits::no;
    if (fiber.stack == nullptr) fiber.stack.reset(new char[kStack]);
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.get();
    fiber.context.uc_stack.ss_size = kStack;
    fiber.context.uc_link = &scheduler;
    makecontext(&fiber.context, run_fiber, 0);
  }
}

inline void run_block() {
  start_fibers();
  const std::size_t count = fibers.size();
  for (;;) {
    bool moved = false;
    bool living = false;
    for (std::size_t turn = 0; turn < count; ++turn) {
      const std::size_t index = backwards ? count - 1 - turn : turn;
      Fiber& fiber = fibers[index];
      if (fiber.waits == Waits::for_warp) moved |= release_lanes(index);
      living |= fiber.waits != Waits::ended;
      if (fiber.waits != Waits::no) continue;
      running = &fiber;
      swapcontext(&scheduler, &fiber.context);
      moved = true;
    }
    if (!living) return;
    if (!moved && !release_block()) {
      std::printf("the program is wrong: its threads wait for ever\n");
      std::exit(3);
    }
  }
}

inline void run(dim3 grid, dim3 block, std::function<void()> call) {
  grid_size = grid;
  block_size = block;
  kernel = std::move(call);
  for (unsigned z = 0; z < grid.z; ++z) {
    for (unsigned y = 0; y < grid.y; ++y) {
      for (unsigned x = 0; x < grid.x; ++x) {
        block_index = dim3(x, y, z);
        run_block();
      }
    }
  }
}

}  // namespace reference

#include "reference_functions.hpp"
