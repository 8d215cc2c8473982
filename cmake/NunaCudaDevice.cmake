# What the CUDA device (runtime/device/cuda) is built from beside its C++: the driver's headers, and Nuna's own kernels, which
# become one image in the library. Neither the driver nor NVIDIA's runtime is linked.

find_package(CUDAToolkit 12 REQUIRED)
target_include_directories(nuna_device SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
target_link_libraries(nuna_device PRIVATE ${CMAKE_DL_LIBS})

# As CMAKE_CUDA_ARCHITECTURES: "75-virtual;80-real;90".
set(architectures ${CMAKE_CUDA_ARCHITECTURES})
if(NOT architectures)
  set(architectures 75-virtual 80-real 90-real)
endif()
set(code "")
foreach(architecture IN LISTS architectures)
  string(REGEX MATCH "^[0-9]+[a-z]?" number "${architecture}")
  if(NOT number)
    list(APPEND code -arch=${architecture})  # native, all, all-major
    continue()
  endif()
  if(NOT architecture MATCHES "-real$")
    list(APPEND code -gencode=arch=compute_${number},code=compute_${number})
  endif()
  if(NOT architecture MATCHES "-virtual$")
    list(APPEND code -gencode=arch=compute_${number},code=sm_${number})
  endif()
endforeach()

set(kernels ${CMAKE_CURRENT_SOURCE_DIR}/device/cuda/kernels.cu)
set(image ${CMAKE_CURRENT_BINARY_DIR}/nuna_kernels.fatbin)
add_custom_command(OUTPUT ${image}
  COMMAND ${CUDAToolkit_NVCC_EXECUTABLE} -fatbin --no-compress -std=c++20 -O3 --expt-relaxed-constexpr --fmad=false ${code}
          -ccbin ${CMAKE_CXX_COMPILER} -I${CMAKE_CURRENT_SOURCE_DIR} -I${PROJECT_SOURCE_DIR}/api/include
          -MD -MF ${image}.d -o ${image} ${kernels}
  DEPENDS ${kernels} DEPFILE ${image}.d VERBATIM COMMENT "Compiling Nuna's kernels for CUDA devices")
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/builtin_image.cpp CONTENT [=[
// Nuna's own kernels for CUDA devices, as nvcc made them.
#include "device/cuda/builtin.hpp"

asm(".section .rodata\n.balign 16\nnuna_builtin_image:\n.incbin \"@image@\"\n.previous\n");
extern "C" const char nuna_builtin_image[] __attribute__((visibility("hidden")));

namespace nuna::device::cuda {

const void* builtin_image() { return nuna_builtin_image; }

}  // namespace nuna::device::cuda
]=] @ONLY)
set_source_files_properties(${CMAKE_CURRENT_BINARY_DIR}/builtin_image.cpp PROPERTIES OBJECT_DEPENDS ${image})
target_sources(nuna_device PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/builtin_image.cpp ${image})
