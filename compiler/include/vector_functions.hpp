#pragma once
/* Programs include it by this name. */
#include "vector_functions.h"
