#pragma once
// Small programs over the public API, whose results must not depend on what they run on.

#include <cstdint>
#include <vector>

#include "nuna/nuna.hpp"

namespace nuna::programs {

/// Jacobi steps on a rectangle with borders, from a fixed start.
std::vector<float> heat(Context& context, Index rows, Index columns, int steps);
/// The product of two matrices by tiles, of sizes that need not be multiples of a tile.
std::vector<float> product(Context& context, Index rows, Index inner, Index columns);
/// Divisions, square roots, integers and doubles, at the edges of their ranges, too.
std::vector<double> arithmetic(Context& context, Index count);
/// Sums of rows, by a function that is called once a part and puts its work on the part's stream.
std::vector<std::int64_t> row_sums(Context& context, Index rows, Index columns);
/// Fills, copies of boxes between buffers of several ranks and element sizes, and host views in between.
std::vector<std::int32_t> fills_and_copies(Context& context);
/// Works on the CPU's memory that the program has.
std::vector<float> adopted(Context& context);
/// The same on a CUDA allocation, which a stream of the program's own fills; one rank.
std::vector<float> adopted_on_card(Context& context);
/// Memory that the program has pinned itself; what Nuna pins of its own goes on as before.
std::vector<float> adopted_pinned(Context& context);
/// Every element from the other half of a buffer: with two devices, all of it crosses.
std::vector<float> half_turn(Context& context, Index count);
/// A ring of four buffers, each worked on by one device, which reads its neighbours' on theirs.
std::vector<float> neighbours_in_place(Context& context, Index count);
/// One thread writes where no memory is; on a GPU, its device is lost.
void fault(Context& context);
/// A kernel that only the CPU has code for: it holds what cannot be copied bytewise.
void host_only(Context& context);

}  // namespace nuna::programs
