# How Nuna's own code is compiled. Third-party headers are system headers and raise no warnings.

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
  message(FATAL_ERROR "Nuna needs g++ 12 or newer (found ${CMAKE_CXX_COMPILER_VERSION}).")
endif()
if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release or RelWithDebInfo" FORCE)
endif()

# nuna_options(<target> <PUBLIC|PRIVATE|INTERFACE> <option>...): options of the C++ compiler, which nvcc hands on to it.
function(nuna_options target scope)
  foreach(option IN LISTS ARGN)
    target_compile_options(${target} ${scope}
      $<$<COMPILE_LANGUAGE:CXX>:${option}> $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${option}>)
  endforeach()
endfunction()

# ccache when it is here; precompiled headers need two of its checks relaxed.
find_program(NUNA_CCACHE ccache)
if(PROJECT_IS_TOP_LEVEL AND NUNA_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${NUNA_CCACHE})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()

# D11, the same bits always: Nuna and every kernel of a user of Nuna::nuna are compiled without contraction.
# (nuna_add_kernels, in NunaKernels.cmake, says the same to nvcc.)
set(NUNA_SAME_BITS_CXX -ffp-contract=off)
set(NUNA_SAME_BITS $<$<COMPILE_LANGUAGE:CXX>:${NUNA_SAME_BITS_CXX}>
                   $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${NUNA_SAME_BITS_CXX}> $<$<COMPILE_LANGUAGE:CUDA>:--fmad=false>)

# Warnings for our own code, tests and programs included.
add_library(nuna_warnings INTERFACE)
nuna_options(nuna_warnings INTERFACE
  -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wno-missing-field-initializers)
target_compile_options(nuna_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wpedantic>)  # nvcc's output is not pedantic C++
if(NUNA_WERROR)
  nuna_options(nuna_warnings INTERFACE -Werror)
  target_compile_options(nuna_warnings INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:--Werror=all-warnings>)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ reports these in correct standard library code after inlining (for std::string: GCC bug 105329), most of all
  # under sanitizers. They stay visible, except -Wrestrict, which g++ 12 gets wrong for "a" + string.
  nuna_options(nuna_warnings INTERFACE
    -Wno-maybe-uninitialized -Wno-error=array-bounds -Wno-error=stringop-overflow -Wno-error=stringop-overread
    -Wno-error=dangling-pointer -Wno-error=free-nonheap-object -Wno-error=tsan)
  if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    nuna_options(nuna_warnings INTERFACE -Wno-restrict)
  endif()
else()
  target_compile_options(nuna_warnings INTERFACE -Wthread-safety)
endif()

# Everything built in this tree: C++20, hidden symbols, sanitizers.
add_library(nuna_build INTERFACE)
target_compile_features(nuna_build INTERFACE cxx_std_20)
# Messages name our files from the source's root: an installed library does not tell where it was built.
target_compile_options(nuna_build INTERFACE ${NUNA_SAME_BITS})
nuna_options(nuna_build INTERFACE -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)
target_link_libraries(nuna_build INTERFACE nuna_warnings)
target_compile_definitions(nuna_build INTERFACE ${NUNA_BACKEND_DEFINITIONS})
if(NUNA_SANITIZE)
  string(REPLACE "," ";" sanitizers "${NUNA_SANITIZE}")
  list(TRANSFORM sanitizers PREPEND -fsanitize=)  # one by one: nvcc ends an option at a comma
  nuna_options(nuna_build INTERFACE ${sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(nuna_build INTERFACE -fsanitize=${NUNA_SANITIZE})
endif()
if(NOT CMAKE_BUILD_TYPE STREQUAL "Release")
  target_compile_definitions(nuna_build INTERFACE _GLIBCXX_ASSERTIONS)
endif()

set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
  set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
  set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
endif()
