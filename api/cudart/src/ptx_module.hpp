#pragma once
// What a PTX text declares, and where its functions ask for blocks. Pure.
//
// Only as much is understood as kernels for parts of a grid need (ptx_parts.hpp): functions with their parameters, which instructions
// read %ctaid and %nctaid, whether there are calls, and the module's variables. The text is not judged otherwise; that is ptxas's.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nuna::cudart {

/// A place in the text, [begin, end).
struct PtxSpan {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// An operand "%ctaid.x" or "%nctaid.x" of an instruction on 32 bits.
struct PtxBlockRead {
  PtxSpan at;
  bool of_grid = false;  ///< %nctaid
  int axis = 0;          ///< 0 is x
};

/// With a body: functions that are declared only are left out.
struct PtxFunction {
  bool is_entry = false;
  std::string name;
  std::vector<std::uint64_t> parameter_bytes;
  bool has_parameter_list = false;
  std::size_t parameters_end = 0;  ///< of the list, before its ")"; without one, behind the name
  std::size_t body_begin = 0;      ///< behind its "{"
  std::vector<PtxBlockRead> reads;
  bool calls = false;
  std::string
      refusal;  ///< what in it depends on the grid and is not understood, "line 12: %gridid"; empty: nothing
};

/// .global or .const, of the module.
struct PtxVariable {
  std::string name;
  std::uint64_t bytes = 0;
  friend bool operator==(const PtxVariable&, const PtxVariable&) = default;
};

struct PtxModule {
  std::vector<PtxFunction> functions;
  std::vector<PtxVariable> variables;
  std::vector<PtxSpan> managed;     ///< each ".attribute(.managed)"
  std::size_t functions_begin = 0;  ///< where the first function's declaration begins
};

/// Throws std::runtime_error, with the line, for what is no PTX.
PtxModule parse_ptx(std::string_view text);

}  // namespace nuna::cudart
