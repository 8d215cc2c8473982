#pragma once
// The instructions of PTX, by what they do. Each function builds an instruction that it knows and says whether it does; it throws
// ptx::Unknown on a form that it does not know.

#include "codegen/ptx_builder.hpp"
#include "codegen/ptx_text.hpp"

namespace nuna::compiler {

bool build_ptx_arithmetic(PtxBuilder& to, const ptx::Instruction& in);  ///< of integers and bits
bool build_ptx_reals(PtxBuilder& to, const ptx::Instruction& in);
bool build_ptx_choice(PtxBuilder& to, const ptx::Instruction& in);  ///< setp, selp and their like
bool build_ptx_conversion(PtxBuilder& to, const ptx::Instruction& in);
bool build_ptx_memory(PtxBuilder& to, const ptx::Instruction& in);
bool build_ptx_threads(PtxBuilder& to, const ptx::Instruction& in);  ///< barriers, shuffles, votes, jumps

/// The many for which nuna/device/ptx.h has a function: __nuna_ptx_bfe_u32 is bfe.u32.
bool build_ptx_helper(PtxBuilder& to, const ptx::Instruction& in);

}  // namespace nuna::compiler
