#pragma once
// How many blocks a multiprocessor would hold.

#include <cstddef>

#include "images.hpp"

namespace nuna::cudart {

/// Throws Refused.
int blocks_per_multiprocessor(const Function& function, int block_size, std::size_t dynamic_bytes);

}  // namespace nuna::cudart
