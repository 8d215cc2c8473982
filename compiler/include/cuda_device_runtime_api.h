#ifndef NUNA_CUDA_DEVICE_RUNTIME_API_H
#define NUNA_CUDA_DEVICE_RUNTIME_API_H
/* Programs include it by this name; all of it comes with cuda_runtime.h. */
#include "cuda_runtime.h"
#endif
