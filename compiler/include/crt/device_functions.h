#pragma once
/* Programs include it by this name; all of it comes with cuda_runtime.h. */
#include "cuda_runtime.h"
