#ifndef NUNA_BUILTIN_TYPES_H
#define NUNA_BUILTIN_TYPES_H
#include "driver_types.h"
#include "texture_types.h"
#include "vector_types.h"
#endif
