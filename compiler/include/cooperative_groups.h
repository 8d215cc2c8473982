#pragma once
/* Cooperative groups: the block, tiles of up to 32 threads, coalesced threads, and the grid as far as it can be asked: to
 * synchronise a grid of more than one block is refused with a message. */

#include "cuda_runtime.h"

#ifdef NUNA_CUDA_MODE
#include "nuna/device/groups_block.h"
#include "nuna/device/groups_warp.h"
#endif
