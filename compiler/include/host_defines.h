#ifndef NUNA_HOST_DEFINES_H
#define NUNA_HOST_DEFINES_H
/* Programs include it by this name. */
#include "crt/host_defines.h"
#endif
