#pragma once
// Along which axes a kernel's grid may be split, for all launches at once: no two blocks that differ along the axis write the same
// bytes. (The runtime answers the same for one launch, with its numbers, where nothing has to be guessed; this is for people.)
//
// After paper 004, section 4: blockIdx * blockDim becomes one variable, the block's offset, and an index `y * width + x` a row and a
// column, which is right where the code keeps x below width. What two blocks have in common is then a set of launches (isl).

#include <array>
#include <string>

#include "access/kernel_model.hpp"

namespace nuna::compiler {

struct AxisVerdict {
  enum class Answer {
    yes,
    when,       ///< in launches in which `text` holds: "blockDim.x <= 16"
    at_launch,  ///< only the numbers of a launch can tell; `text` says why
    no          ///< `text` says why
  };
  Answer answer = Answer::yes;
  std::string text;
  access::SourceLine at;
};

/// For x, y and z.
std::array<AxisVerdict, 3> legality_of(const access::KernelModel& model);

}  // namespace nuna::compiler
