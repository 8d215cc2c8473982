#pragma once
/* Cooperative groups: the block, tiles, coalesced threads, and the grid, which synchronises
 * where it was launched cooperatively. */

#include "cuda_runtime.h"

#ifdef NUNA_CUDA_MODE
#include "nuna/device/groups_block.h"
#include "nuna/device/groups_warp.h"
#endif
