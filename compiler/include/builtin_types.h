#pragma once
#include "driver_types.h"
#include "texture_types.h"
#include "vector_types.h"
