#ifndef NUNA_CRT_HOST_CONFIG_H
#define NUNA_CRT_HOST_CONFIG_H
/* Programs include it by this name. */
#include "crt/host_defines.h"
#endif
