#ifndef NUNA_SURFACE_FUNCTIONS_H
#define NUNA_SURFACE_FUNCTIONS_H
/* Programs include it by this name; all of it comes with cuda_runtime.h. */
#include "cuda_runtime.h"
#endif
