#ifndef NUNA_MATH_FUNCTIONS_DBL_PTX3_H
#define NUNA_MATH_FUNCTIONS_DBL_PTX3_H
/* Programs include it by this name; all of it comes with cuda_runtime.h. */
#include "cuda_runtime.h"
#endif
