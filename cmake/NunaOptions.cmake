# What can be switched on or off, and what of it this version can do. The table in docs/building.md is made from these
# lines (tests/tree/tables.py).

option(NUNA_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(NUNA_EXAMPLES "Build the examples" ${PROJECT_IS_TOP_LEVEL})
option(NUNA_APPS "Build the programs and tools" ${PROJECT_IS_TOP_LEVEL})
option(NUNA_INSTALL "Install the library, the programs and the packages for CMake and pkg-config" ${PROJECT_IS_TOP_LEVEL})
option(NUNA_PERF "Build the benchmarks in tests/perf" OFF)
option(NUNA_NATIVE "Compile apps, examples and benchmarks for the CPU of this machine (-march=native)" ON)
option(NUNA_WERROR "Treat warnings in Nuna's own code as errors" ${PROJECT_IS_TOP_LEVEL})
option(NUNA_PCH "Precompile the heavy headers (hides missing includes: for sanitizer builds and CI)" OFF)
option(NUNA_TEST_PCH "The same for the tests only: they build in less time" OFF)
set(NUNA_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize=: 'address,undefined', 'thread', or empty")

# A backend is an option, the folder that holds it, and a definition (NUNA_WITH_<name>=1) for the code that names it.
set(NUNA_BACKENDS MPI UCX HDF5 CUDA)
set(NUNA_BACKEND_MPI_FOLDER runtime/cluster/mpi)
set(NUNA_BACKEND_UCX_FOLDER runtime/cluster/ucx)
set(NUNA_BACKEND_HDF5_FOLDER runtime/storage/hdf5)
set(NUNA_BACKEND_CUDA_FOLDER runtime/device/cuda)
option(NUNA_MPI "Ranks as MPI processes" OFF)
option(NUNA_UCX "One-sided fetches over UCX" OFF)
option(NUNA_HDF5 "HDF5 files and checkpoints" OFF)
set(NUNA_CUDA "AUTO" CACHE STRING "NVIDIA devices, and kernels for them: ON, OFF, or AUTO, where nvcc is found")
set(NUNA_COMPILER "AUTO" CACHE STRING "nunacc, for unmodified CUDA source: ON, OFF, or AUTO, where LLVM 19 is found")

include(NunaCuda)  # from here on NUNA_CUDA is ON or OFF
include(NunaLlvm)  # and so is NUNA_COMPILER

set(NUNA_BACKEND_DEFINITIONS "")
set(NUNA_FOLDERS_LEFT_OUT "")  # absolute folders of backends that are off: their sources are not globbed
foreach(backend IN LISTS NUNA_BACKENDS)
  set(folder ${PROJECT_SOURCE_DIR}/${NUNA_BACKEND_${backend}_FOLDER})
  if(NOT NUNA_${backend})
    list(APPEND NUNA_FOLDERS_LEFT_OUT ${folder})
  elseif(IS_DIRECTORY ${folder})
    list(APPEND NUNA_BACKEND_DEFINITIONS NUNA_WITH_${backend}=1)
  elseif(NOT backend STREQUAL "CUDA")  # whose kernels stand above the device
    message(FATAL_ERROR "NUNA_${backend}=ON: arrives with a later version of Nuna "
                        "(there is no ${NUNA_BACKEND_${backend}_FOLDER} yet). Configure with -DNUNA_${backend}=OFF.")
  endif()
endforeach()
