# NUNA_CUDA, resolved: AUTO is ON where a compiler for kernels is found that goes with the C++ compiler.

set_property(CACHE NUNA_CUDA PROPERTY STRINGS AUTO ON OFF)
string(TOUPPER "${NUNA_CUDA}" NUNA_CUDA_ASKED)
if(NOT NUNA_CUDA_ASKED MATCHES "^(AUTO|ON|OFF|YES|NO|TRUE|FALSE|1|0)$")
  message(FATAL_ERROR "NUNA_CUDA is '${NUNA_CUDA}': expected AUTO, ON or OFF.")
endif()

include(NunaKernels)
if(NUNA_CUDA_ASKED STREQUAL "AUTO" OR NUNA_CUDA)
  nuna_find_cuda(NUNA_CUDA_LACKS)
  if(NUNA_CUDA_LACKS AND NOT NUNA_CUDA_ASKED STREQUAL "AUTO")
    message(FATAL_ERROR "NUNA_CUDA=ON: ${NUNA_CUDA_LACKS}. Name the compiler with -DCMAKE_CUDA_COMPILER=<its nvcc>, or "
                        "configure with -DNUNA_CUDA=OFF.")
  endif()
else()
  set(NUNA_CUDA_LACKS "NUNA_CUDA is OFF")
endif()

if(NUNA_CUDA_LACKS)
  set(NUNA_CUDA OFF)
  message(STATUS "CUDA: no (${NUNA_CUDA_LACKS}); kernels are compiled for host devices only")
else()
  set(NUNA_CUDA ON)
  # Compiled ahead for two kinds of GPU; the driver compiles PTX of the oldest kind for all others.
  set(CMAKE_CUDA_ARCHITECTURES 75-virtual 80-real 90-real CACHE STRING "GPUs that kernels are compiled for")
  set_property(GLOBAL PROPERTY NUNA_CUDA_ARCHITECTURES ${CMAKE_CUDA_ARCHITECTURES})
  enable_language(CUDA)
  message(STATUS "CUDA: ${CMAKE_CUDA_COMPILER} ${CMAKE_CUDA_COMPILER_VERSION}, for ${CMAKE_CUDA_ARCHITECTURES}")
endif()
