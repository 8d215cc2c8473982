# The tree checks itself: the arrow between layers, format, headers that stand alone, the installed package. The scripts
# are in tests/tree and run by hand as well.

set(tree ${PROJECT_SOURCE_DIR}/tests/tree)
find_package(Python3 REQUIRED COMPONENTS Interpreter)

nuna_script_test(tree.layers unit COMMAND ${Python3_EXECUTABLE} ${tree}/layers.py ${PROJECT_SOURCE_DIR})
nuna_script_test(tree.layers_finds_wrong_includes unit COMMAND ${Python3_EXECUTABLE} ${tree}/layers_test.py)
nuna_script_test(tree.mutants_have_their_places unit COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/mutation/run --places)
nuna_script_test(tree.files unit COMMAND bash ${tree}/check_tree.sh files)
nuna_script_test(tree.format unit COMMAND bash ${tree}/check_tree.sh format)

# What the guides say in tables is what the code says.
add_executable(nuna_settings_table ${tree}/settings_table.cpp)
target_link_libraries(nuna_settings_table PRIVATE nuna_build nuna_base)
nuna_script_test(tree.tables unit COMMAND bash ${tree}/check_tree.sh tables)

# nuna_headers_alone(<target> <include root> <C++ standard> <header>...): compiles a file that includes only that header,
# twice, which also finds a missing #pragma once.
function(nuna_headers_alone target root standard)
  set(sources "")
  foreach(header IN LISTS ARGN)
    file(RELATIVE_PATH name ${root} ${header})
    set(source ${CMAKE_CURRENT_BINARY_DIR}/${target}/${name}.cpp)
    set(text "#include \"${name}\"\n#include \"${name}\"\n")
    set(old "")
    if(EXISTS ${source})
      file(READ ${source} old)
    endif()
    if(NOT old STREQUAL text)
      file(WRITE ${source} "${text}")
    endif()
    list(APPEND sources ${source})
  endforeach()
  if(sources)
    add_library(${target} OBJECT EXCLUDE_FROM_ALL ${sources})
    target_include_directories(${target} PRIVATE ${root})
    target_compile_features(${target} PRIVATE cxx_std_${standard})
    target_compile_options(${target} PRIVATE -O0 -g0)
    target_link_libraries(${target} PRIVATE nuna_warnings)
    add_dependencies(self_contained_headers ${target})
  endif()
endfunction()

add_custom_target(self_contained_headers)
set(public_root ${PROJECT_SOURCE_DIR}/api/include)
set(written_root ${PROJECT_BINARY_DIR}/include)  # nuna/version.hpp, which CMake writes
nuna_glob(public_headers ${public_root} *.hpp *.h)
list(APPEND public_headers ${public_root}/nuna/version.hpp)
nuna_headers_alone(public_headers ${public_root} 17 ${public_headers})
if(TARGET public_headers)
  target_include_directories(public_headers PRIVATE ${written_root})
endif()

get_property(layers GLOBAL PROPERTY NUNA_LAYERS)
list(TRANSFORM layers PREPEND nuna_ OUTPUT_VARIABLE layer_targets)
nuna_glob(runtime_headers ${PROJECT_SOURCE_DIR}/runtime *.hpp)
nuna_headers_alone(runtime_headers ${PROJECT_SOURCE_DIR}/runtime 20 ${runtime_headers})
nuna_glob(api_headers ${PROJECT_SOURCE_DIR}/api/src *.hpp)
nuna_headers_alone(api_headers ${PROJECT_SOURCE_DIR}/api/src 20 ${api_headers})
foreach(target IN ITEMS runtime_headers api_headers)
  if(TARGET ${target})
    target_link_libraries(${target} PRIVATE ${layer_targets} nuna_roots)
  endif()
endforeach()

if(NUNA_CUDA)
  find_package(CUDAToolkit REQUIRED)
  target_include_directories(runtime_headers SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
endif()

# Public headers under clang too: users bring their own compiler.
find_program(NUNA_CLANG NAMES clang++-19)
if(NUNA_CLANG AND public_headers AND NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  set(stamps "")
  set(header_files ${public_headers})
  list(TRANSFORM header_files REPLACE "^${public_root}/nuna/version.hpp$" ${written_root}/nuna/version.hpp)
  foreach(header IN LISTS public_headers)
    file(RELATIVE_PATH name ${public_root} ${header})
    set(stamp ${CMAKE_CURRENT_BINARY_DIR}/public_headers/${name}.clang)
    add_custom_command(OUTPUT ${stamp}
      COMMAND ${NUNA_CLANG} -std=c++17 -fsyntax-only -Wall -Wextra -Wpedantic -Werror -I${public_root} -I${written_root}
              ${CMAKE_CURRENT_BINARY_DIR}/public_headers/${name}.cpp
      COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
      DEPENDS ${header_files} COMMENT "Public header ${name} alone, clang, C++17" VERBATIM)
    list(APPEND stamps ${stamp})
  endforeach()
  add_custom_target(public_headers_clang DEPENDS ${stamps})
  add_dependencies(self_contained_headers public_headers_clang)
endif()
nuna_script_test(tree.self_contained_headers unit
  COMMAND ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR} --target self_contained_headers -- -k 0 RESOURCE_LOCK build)
set_tests_properties(tree.self_contained_headers PROPERTIES TIMEOUT 1200)

if(TARGET nuna)
  nuna_script_test(tree.exported_symbols unit COMMAND bash ${tree}/exported_symbols.sh $<TARGET_FILE:nuna>)
endif()

add_custom_target(lint COMMAND bash ${tree}/lint.sh ${PROJECT_BINARY_DIR} USES_TERMINAL
  COMMENT "clang-tidy over ${PROJECT_BINARY_DIR}/compile_commands.json")
