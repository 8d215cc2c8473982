#pragma once
// PTX whose kernels run a box of blocks of a larger grid. Pure.
//
// A part of a launch runs on its GPU as a grid of its own, with as many blocks as the part has. What its code reads as %ctaid and
// %nctaid must be what it would read in the whole launch. So each entry gets one more parameter behind its own, of kPartWords 32-bit
// words: the part's first block and the whole grid's size in blocks, each along x, y and z. Where an instruction read %ctaid or
// %nctaid, it reads a register that the entry sets at its begin: %ctaid plus the first block, and the grid's size.
//
// Functions that are called, by name or by pointer, have no such parameter. Where some function of the module reads the blocks, every
// thread of an entry that calls leaves the words in shared memory at its begin, and functions take them from there. All threads of a
// block write the same, and each has written before it calls, so none waits for another.
//
// What depends on the grid in other ways refuses the entry by name: %gridid, %clusterid, %nclusterid, %envreg (grids that
// synchronise), clusters of a fixed size, block indices read in another width. .managed variables become plain ones: their
// memory is the launcher's affair.
//
//   const PartsPtx ptx = ptx_for_parts(text);      // what cuModuleLoadData takes

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ptx_module.hpp"

namespace nuna::cudart {

inline constexpr int kPartWords = 6;

struct PartsPtx {
  struct Entry {
    std::string name;
    std::vector<std::uint64_t> parameter_bytes;  ///< without the one that was added
    std::string
        refusal;  ///< why it cannot run a part, "line 12: %gridid"; it is left as it was. Empty: it can
  };
  std::string text;
  std::vector<Entry> entries;
  std::vector<PtxVariable> variables;
};

/// Throws std::runtime_error, with the line, for text that is no PTX or that has names of this header's own.
PartsPtx ptx_for_parts(std::string_view ptx);

}  // namespace nuna::cudart
