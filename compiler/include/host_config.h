#pragma once
/* Programs include it by this name. */
#include "crt/host_defines.h"
