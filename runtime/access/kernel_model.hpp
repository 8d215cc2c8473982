#pragma once
// KernelModel: what the blocks of a compiled kernel read and write, as polynomials that become affine when a launch's numbers are
// put in. The compiler writes it (compiler/access), the runtime evaluates it at the first launch of a signature
// (access/polyhedral.hpp); this is all that the two know of each other.
//
// After paper 004 section 4 (access maps), and CODA's Algorithm 1 (a stride that only the launch knows is a coefficient here, not a
// special case). Unlike the paper nothing is delinearised: `y * width + x` is linear in y once width is a number.
//
// Numbers are mathematical integers: where the code counts in 32 bits, the model holds if `assumptions` do, which the runtime checks
// for each launch. A variable is existential except for a block's place in the grid; threads run over the block, `extra` ones (rounds
// of loops, quotients) over what the domain of their access says.
//
// Plain values; no thread rules. JSON (write_model, read_model) is the form in images and of `nunacc --model`.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nuna::access {

/// Variables of a polynomial: 0 to 2 blockIdx, 3 to 5 threadIdx, from 6 on the access's own.
inline constexpr int kNoVariable = -1;
inline constexpr int kBlockIndex = 0;
inline constexpr int kThreadIndex = 3;
inline constexpr int kExtra = 6;

/// factor * parameters[0] * ... * variable; a parameter may come more than once.
struct Term {
  std::int64_t factor = 0;
  std::vector<std::uint16_t> parameters;  ///< ascending
  int variable = kNoVariable;
  friend bool operator==(const Term&, const Term&) = default;
};
using Polynomial = std::vector<Term>;  ///< their sum; no two terms differ in the factor alone

/// A number that a launch knows. The first six are the same in every kernel.
struct Parameter {
  enum class Kind : std::uint8_t { block_size, grid_size, scalar, derived };
  Kind kind = Kind::scalar;
  int axis = 0;                ///< of block_size and grid_size: 0 is x
  std::uint32_t argument = 0;  ///< of a scalar: which of the kernel's parameters,
  std::uint32_t offset = 0;    ///< the byte in it (a field of a struct),
  std::uint32_t bytes = 4;     ///< 1, 2, 4 or 8,
  bool is_signed = true;       ///< and how they are read

  /// Of a derived one: what is made of `left` and `right`, which have no variables, and parameters before this one only.
  enum class Operation : std::uint8_t {
    shifted,         ///< left * 2^right; right from 0 to 60
    quotient,        ///< left / right, rounded down; right > 0
    least,           ///< of both
    most,            ///< of both
    lowest_bit,      ///< the largest power of two that divides left; 0 of 0
    is_power_of_two  ///< 1 if left is one, else 0
  };
  Operation operation = Operation::shifted;
  Polynomial left;
  Polynomial right;
  friend bool operator==(const Parameter&, const Parameter&) = default;
};
inline constexpr std::uint16_t kBlockSize = 0;  ///< parameters 0 to 2: threads of a block along x, y, z
inline constexpr std::uint16_t kGridSize = 3;   ///< 3 to 5: blocks of the grid
inline constexpr std::uint16_t kScalars = 6;

struct Constraint {
  Polynomial left;
  bool is_equality = false;  ///< left == 0; else left >= 0
  friend bool operator==(const Constraint&, const Constraint&) = default;
};

/// Where in the source; line 0: unknown.
struct SourceLine {
  std::string file;
  std::uint32_t line = 0;
  friend bool operator==(const SourceLine&, const SourceLine&) = default;
};

/// A pointer that the kernel was given: a parameter, or the 8 bytes at `offset` of a struct; or a variable of the program.
struct Pointer {
  std::uint32_t argument = 0;
  std::uint32_t offset = 0;
  std::string variable;  ///< mangled; empty: a parameter
  friend bool operator==(const Pointer&, const Pointer&) = default;
};

/// One load or store instruction.
struct Access {
  enum class Kind : std::uint8_t { read, write, atomic };
  Kind kind = Kind::read;
  std::uint32_t pointer = 0;  ///< index into KernelModel::pointers
  std::uint32_t bytes = 0;    ///< that each thread touches, side by side
  /// The first byte, counted from the pointer; nothing: anywhere behind or before it, in what was allocated with it.
  std::optional<Polynomial> first_byte;
  int extra = 0;  ///< variables kExtra to kExtra + extra - 1
  std::vector<Constraint>
      domain;         ///< which of blocks, threads and extra variables touch it; within block and grid always
  bool exact = true;  ///< false: it may not happen where the domain says; never outside of it
  SourceLine at;
  friend bool operator==(const Access&, const Access&) = default;
};

/// The model holds for launches in which `value` lies in the range of an integer of `bits`, over all blocks, threads and extra
/// variables of the domain.
struct Assumption {
  Polynomial value;
  int bits = 32;
  bool is_signed = true;
  int extra = 0;
  std::vector<Constraint> domain;
  SourceLine at;
  friend bool operator==(const Assumption&, const Assumption&) = default;
};

/// Why a kernel can never be split: "calls foo, whose body is elsewhere".
struct Refusal {
  std::string reason;
  SourceLine at;
  /// Where it goes is in memory: a launch that is watched shows it, and nothing else stands against a split.
  bool of_addresses = false;
  friend bool operator==(const Refusal&, const Refusal&) = default;
};

/// What a thread does in one run through a basic block, in instructions; for decisions where to compute (NDP's offload blocks).
struct BlockWork {
  SourceLine at;
  int loops = 0;  ///< around it
  std::uint32_t loads = 0;
  std::uint32_t stores = 0;
  std::uint32_t float_operations = 0;    ///< a fused multiply and add is two
  std::uint32_t integer_operations = 0;  ///< of addresses, too
  friend bool operator==(const BlockWork&, const BlockWork&) = default;
};

struct KernelModel {
  std::string name;  ///< mangled
  std::vector<Parameter> parameters;
  std::vector<Pointer> pointers;
  std::vector<Access> accesses;
  std::vector<Assumption> assumptions;
  std::vector<Refusal> refusals;
  bool prints = false;  ///< calls printf or the like
  std::vector<BlockWork> work;
  friend bool operator==(const KernelModel&, const KernelModel&) = default;
};

/// JSON of one model, or of several as an array.
std::string write_model(const KernelModel& model);
std::string write_models(const std::vector<KernelModel>& models);

/// Throws std::runtime_error with what is wrong and where: a missing field, an index out of range.
KernelModel read_model(std::string_view json);

}  // namespace nuna::access
