#ifndef NUNA_NVTOOLSEXT_H
#define NUNA_NVTOOLSEXT_H
#include "nvtx3/nvToolsExt.h"
#endif
