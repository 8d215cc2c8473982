#ifndef NUNA_VECTOR_FUNCTIONS_HPP
#define NUNA_VECTOR_FUNCTIONS_HPP
/* Programs include it by this name. */
#include "vector_functions.h"
#endif
