#pragma once
// What runs: decoded instructions, and the threads of a block that carry them out.
//
// A thread's registers are 64-bit slots. An instruction writes its result extended to 64 bits, and reads of a slot
// what its type needs; so registers need no widths here. Constants lie in slots behind the registers.

#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "memory.hpp"

namespace standin::ptx {

struct Thread;
struct Instruction;
struct Code;

/// Carries out one instruction. False: the thread stops here, and its status says why.
using Handler = bool (*)(Thread&, const Instruction&);

/// What only few instructions need.
struct Extra {
  std::vector<std::uint32_t> slots;  // of vectors
  std::vector<std::uint8_t> bits;    // their widths
  std::vector<const Instruction*> targets;
  const Code* callee = nullptr;
  struct Passed {
    std::uint32_t from = 0, to = 0, size_bytes = 0;  // offsets in frames
  };
  std::vector<Passed> arguments, results;
};

struct Instruction {
  Handler run = nullptr;
  std::uint32_t guard = 0;  // slot of the predicate; 0 is none
  std::uint32_t guard_value = 1;
  std::uint32_t d = 0, d2 = 0;               // results; 0 is none (slot 0 is never read)
  std::uint32_t a = 0, b = 0, c = 0, e = 0;  // operands; slot 0 holds 0
  std::uint32_t option = 0;
  std::uint32_t recent = 0;  // of those that touch memory
  int line = 0;
  std::int64_t offset = 0;  // of an address
  const Instruction* target = nullptr;
  const Extra* extra = nullptr;
};

struct Parameter {
  std::size_t offset = 0;
  std::size_t size_bytes = 0;
};

/// A function, decoded.
struct Code {
  std::string name;
  bool entry = false;
  std::vector<Instruction> instructions;
  std::vector<std::unique_ptr<Extra>> extras;
  std::uint32_t slots = 0;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> constants;
  std::vector<Parameter> parameters;  // of an entry: in the launch's parameters; otherwise in the frame
  std::vector<Parameter> returns;
  std::size_t parameter_bytes = 0;  // of the launch
  std::size_t local_bytes = 0;      // of a frame: parameters of calls, local variables
  std::size_t shared_bytes = 0;     // without the launch's
  unsigned most_threads = 1024;
  /// No thread ever waits for another: each may run to its end before the next begins.
  bool independent = true;
};

/// Where the memory of a block lies among generic addresses: no process has addresses there.
inline constexpr std::uint64_t kSharedWindow = std::uint64_t{1} << 56;
inline constexpr std::uint64_t kLocalWindow = std::uint64_t{2} << 56;
inline constexpr std::uint64_t kParameterWindow = std::uint64_t{3} << 56;

enum class Status { kReady, kBarrier, kWarp, kExited, kFault };

struct Dim {
  std::uint32_t x = 1, y = 1, z = 1;
};

/// What the threads of a block share.
struct Block {
  Dim grid, size, index;
  const std::uint8_t* parameters = nullptr;
  std::size_t parameter_bytes = 0;
  std::vector<std::uint8_t> shared;
  std::function<Reach()> look;  // the address space as it is now
  Reach reach;
  int fault = 0;  // a CUresult
  std::string complaint;
  std::uint64_t instructions = 0;

  /// Of each instruction that touches memory: the range it touched last.
  struct Recent {
    std::uint64_t begin = 1, end = 0;
    std::uint8_t* bytes = nullptr;
    bool writable = false;
  };
  static constexpr std::size_t kRecents = 64;
  Recent recents[kRecents];

  /// Null if this device may not do that.
  std::uint8_t* look_up(std::uint64_t address, std::uint64_t size_bytes, bool write, Recent& recent);
};

struct Frame {
  const Code* code = nullptr;
  const Instruction* back = nullptr;  // where the caller goes on
  const Extra* call = nullptr;
  std::uint64_t* registers = nullptr;
  std::vector<std::uint64_t> own_registers;
  std::size_t local_base = 0;
};

struct Thread {
  std::uint64_t* r = nullptr;
  const Instruction* next = nullptr;
  Block* block = nullptr;
  Status status = Status::kReady;
  Dim index;
  std::uint32_t number = 0;  // in the block
  std::uint32_t carry = 0;
  const Instruction* waiting = nullptr;
  std::vector<std::unique_ptr<Frame>> frames;
  std::vector<std::uint8_t> local;

  template <class T>
  T get(std::uint32_t slot) const {
    if constexpr (std::is_same_v<T, float>) {
      return std::bit_cast<float>(static_cast<std::uint32_t>(r[slot]));
    } else if constexpr (std::is_same_v<T, double>) {
      return std::bit_cast<double>(r[slot]);
    } else {
      return static_cast<T>(r[slot]);
    }
  }
  template <class T>
  void set(std::uint32_t slot, T value) {
    if constexpr (std::is_same_v<T, float>) {
      r[slot] = std::bit_cast<std::uint32_t>(value);
    } else if constexpr (std::is_same_v<T, double>) {
      r[slot] = std::bit_cast<std::uint64_t>(value);
    } else if constexpr (std::is_signed_v<T>) {
      r[slot] = static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
    } else {
      r[slot] = value;
    }
  }
  Frame& frame() { return *frames.back(); }
  /// The memory of the innermost frame.
  std::uint8_t* frame_bytes() { return local.data() + frame().local_base; }
  /// Always false, for handlers to return.
  bool fail(int result, std::string what, const Instruction& at);
  bool wait(Status why, const Instruction& at) {
    status = why;
    waiting = &at;
    return false;
  }
  void enter(const Code& code, const Instruction& call);
  bool leave();
};

/// How a kernel is started.
struct Launch {
  const Code* code = nullptr;
  Dim grid, block;
  std::size_t dynamic_shared_bytes = 0;
  std::vector<std::uint8_t> parameters;
  std::function<Reach()> look;
};

/// Runs all blocks, one after the other. Returns a CUresult; complains on stderr if it is an error.
int execute(const Launch& launch, std::uint64_t& instructions);

/// Lets the threads of a warp go on that wait for each other and are all there. True if any could.
bool resolve_warp(Thread* threads, std::uint32_t count, bool all_that_are_there);

}  // namespace standin::ptx
