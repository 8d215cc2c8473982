#pragma once
// What the device says of itself. Pure.

#include "cuda_runtime_api.h"
#include "device.hpp"

namespace nuna::cudart {

cudaDeviceProp properties_of(const DeviceFacts& facts);
/// Throws Refused (cudaErrorInvalidValue) for attributes that there are not.
int attribute_of(const cudaDeviceProp& properties, cudaDeviceAttr attribute);

}  // namespace nuna::cudart
