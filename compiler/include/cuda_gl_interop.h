#pragma once
/* OpenGL shares no memory with devices: programs that include this and use nothing of it compile. */
#include "cuda_runtime.h"
