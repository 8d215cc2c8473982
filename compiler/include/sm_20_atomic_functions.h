#ifndef NUNA_SM_20_ATOMIC_FUNCTIONS_H
#define NUNA_SM_20_ATOMIC_FUNCTIONS_H
/* Programs include it by this name; all of it comes with cuda_runtime.h. */
#include "cuda_runtime.h"
#endif
