# The functions that the folders use: nuna_layer, nuna_program, nuna_install_tool, nuna_test,
# nuna_script_test. (nuna_add_kernels, which users have as well, is in NunaKernels.cmake.)

file(STRINGS ${PROJECT_SOURCE_DIR}/cmake/layers.txt NUNA_ARROW REGEX "^[a-z]")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/layers.txt)

# nuna_glob(<result> <folder> <pattern>...): the files below folder, without the backends that are switched off.
function(nuna_glob result folder)
  list(TRANSFORM ARGN PREPEND ${folder}/)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${ARGN})
  foreach(left_out IN LISTS NUNA_FOLDERS_LEFT_OUT)
    list(FILTER files EXCLUDE REGEX "^${left_out}/")
  endforeach()
  set(${result} ${files} PARENT_SCOPE)
endfunction()

# The layers that stand to the left of `layer`.
function(nuna_layers_below layer result)
  set(below "")
  foreach(group IN LISTS NUNA_ARROW)
    string(REPLACE " " ";" group "${group}")
    if(layer IN_LIST group)
      set(${result} ${below} PARENT_SCOPE)
      return()
    endif()
    list(APPEND below ${group})
  endforeach()
  message(FATAL_ERROR "Layer '${layer}' is not in cmake/layers.txt: add it to the group it belongs to.")
endfunction()

# nuna_layer(<name> [DEPENDS <layer>...] [LINK <public library>...] [LINK_PRIVATE <library>...])
# The target nuna_<name> of the folder <name>: a static library, an interface library if it has only headers, nothing if
# the folder is empty. DEPENDS is all layers to its left unless said otherwise.
function(nuna_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPENDS;LINK;LINK_PRIVATE")
  set(folder ${CMAKE_CURRENT_SOURCE_DIR}/${name})
  nuna_glob(sources ${folder} *.cpp)
  nuna_glob(headers ${folder} *.hpp)
  nuna_layers_below(${name} below)
  if(NOT sources AND NOT headers)
    message(STATUS "Layer ${name}: no files yet, skipped")
    return()
  endif()

  if(arg_DEPENDS)
    foreach(dependency IN LISTS arg_DEPENDS)
      if(NOT dependency IN_LIST below)
        message(FATAL_ERROR "Layer ${name} cannot depend on ${dependency}: it does not stand to its left.")
      endif()
    endforeach()
  else()
    set(arg_DEPENDS ${below})
  endif()
  list(TRANSFORM arg_DEPENDS PREPEND nuna_)
  set(dependencies "")
  foreach(dependency IN LISTS arg_DEPENDS)
    if(TARGET ${dependency})
      list(APPEND dependencies ${dependency})
    endif()
  endforeach()

  if(sources)
    add_library(nuna_${name} STATIC ${sources} ${headers})
    target_link_libraries(nuna_${name} PUBLIC nuna_roots ${dependencies} ${arg_LINK} PRIVATE nuna_build ${arg_LINK_PRIVATE})
    nuna_precompile(nuna_${name} nuna_pch)
  else()
    add_library(nuna_${name} INTERFACE)
    target_link_libraries(nuna_${name} INTERFACE nuna_roots ${dependencies} ${arg_LINK})
  endif()
  set_property(GLOBAL APPEND PROPERTY NUNA_LAYERS ${name})
  add_dependencies(nuna_libraries nuna_${name})
endfunction()

# nuna_precompiled(<name> HEADERS <header>... [LINK <library>...] [OPTIONS <option>...]): a set of precompiled headers.
function(nuna_precompiled name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "HEADERS;LINK;OPTIONS")
  set(home ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  file(WRITE ${home}.new "// The home of precompiled headers.\n")
  file(COPY_FILE ${home}.new ${home} ONLY_IF_DIFFERENT)
  add_library(${name} OBJECT ${home})
  target_link_libraries(${name} PRIVATE nuna_build ${arg_LINK})
  target_compile_options(${name} PRIVATE ${arg_OPTIONS})
  target_precompile_headers(${name} PRIVATE ${arg_HEADERS})
endfunction()

# nuna_precompile(<target> <set>): use that set of precompiled headers, where the options NUNA_PCH and NUNA_TEST_PCH have made it.
function(nuna_precompile target set)
  if(TARGET ${set})
    target_precompile_headers(${target} REUSE_FROM ${set})
  endif()
endfunction()

# nuna_precompile_own(<target> <header>...): a set of its own, with NUNA_PCH.
function(nuna_precompile_own target)
  if(NUNA_PCH)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()

# nuna_program(<target> NAME <file name> SOURCES <file>... LINK <library>... [FOLDER <below bin/>])
# An executable for people: an app, an example, a benchmark.
function(nuna_program target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "NAME;FOLDER" "SOURCES;LINK")
  add_executable(${target} ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE nuna_build ${arg_LINK})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${arg_NAME})
  if(arg_FOLDER)
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${arg_FOLDER})
  endif()
  if(NUNA_NATIVE)
    nuna_options(${target} PRIVATE -march=native)
  endif()
endfunction()

# nuna_install_tool(<program>): bin/<program>, part of the component "tools" of the package. It finds the installed libraries
# from where it stands, so that the folder may be moved.
include(GNUInstallDirs)
function(nuna_install_tool program)
  file(RELATIVE_PATH libraries /prefix/${CMAKE_INSTALL_BINDIR} /prefix/${CMAKE_INSTALL_LIBDIR})
  set_target_properties(${program} PROPERTIES INSTALL_RPATH "$ORIGIN/${libraries}" INSTALL_RPATH_USE_LINK_PATH ON)
  install(TARGETS ${program} EXPORT NunaToolsTargets RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
  set_property(GLOBAL APPEND PROPERTY NUNA_TOOLS ${program})
endfunction()

# Seconds that a test of this level may take.
function(nuna_timeout level result)
  set(unit 300)
  set(integration 600)
  set(system 600)
  if(NOT DEFINED ${level})
    message(FATAL_ERROR "A test's level is unit, integration or system, not '${level}'.")
  endif()
  set(seconds ${${level}})
  if(NUNA_SANITIZE)
    math(EXPR seconds "${seconds} * 5")
  endif()
  set(${result} ${seconds} PARENT_SCOPE)
endfunction()

# The environment of every test: memory that nobody wrote is poisoned, and a sanitizer's first finding ends the test.
set(NUNA_TEST_ENVIRONMENT
  NUNA_POISON=1
  "ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=0"
  "UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1"
  "TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1")

# ThreadSanitizer needs its address ranges free. A kernel that randomises more than 28 bits of an address takes them now
# and then, and the program dies at start; without randomisation it does not.
set(NUNA_TEST_LAUNCHER "")
if(NUNA_TESTS AND NUNA_SANITIZE MATCHES "thread")
  execute_process(COMMAND cat /proc/sys/vm/mmap_rnd_bits OUTPUT_VARIABLE bits ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  execute_process(COMMAND setarch -R true RESULT_VARIABLE refused OUTPUT_QUIET ERROR_QUIET)
  if(bits STREQUAL "" OR bits GREATER 28)
    if(refused STREQUAL "0")
      set(NUNA_TEST_LAUNCHER setarch -R)
    else()
      message(WARNING "The kernel randomises ${bits} bits of addresses and 'setarch -R' is not allowed: tests under "
                      "ThreadSanitizer may die at start. As root: sysctl vm.mmap_rnd_bits=28")
    endif()
  endif()
endif()

# Tests are compiled often and run once: optimising them takes longer than it saves.
set(NUNA_TEST_OPTIMISATION $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-O1>)

# nuna_test(<name> <LEVEL> SOURCES <file>... LINK <library>... [RESOURCE_LOCK <name>...] [ENV <NAME=value>...])
# One GoogleTest executable, one ctest test, labelled with its level. An executable without tests fails.
function(nuna_test name level)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "SOURCES;LINK;RESOURCE_LOCK;ENV")
  nuna_timeout(${level} seconds)
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(${name} PRIVATE NUNA_TEST_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE nuna_build ${arg_LINK} nuna_test_main)
  target_compile_options(${name} PRIVATE ${NUNA_TEST_OPTIMISATION})
  nuna_precompile(${name} nuna_test_pch)
  add_test(NAME ${name} COMMAND ${NUNA_TEST_LAUNCHER} $<TARGET_FILE:${name}>)
  set_tests_properties(${name} PROPERTIES
    LABELS ${level} TIMEOUT ${seconds} ENVIRONMENT "${NUNA_TEST_ENVIRONMENT};${arg_ENV}"
    FAIL_REGULAR_EXPRESSION "\\[==========\\] Running 0 tests")
  if(arg_RESOURCE_LOCK)
    set_tests_properties(${name} PROPERTIES RESOURCE_LOCK "${arg_RESOURCE_LOCK}")
  endif()
  add_dependencies(${level}_tests ${name})
endfunction()

# nuna_script_test(<name> <LEVEL> COMMAND <command> <argument>... [RESOURCE_LOCK <name>...])
# A script as a test. Exit status 77 means: cannot run here, and the script has said why.
function(nuna_script_test name level)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "COMMAND;RESOURCE_LOCK")
  nuna_timeout(${level} seconds)
  add_test(NAME ${name} COMMAND ${arg_COMMAND})
  set_tests_properties(${name} PROPERTIES LABELS ${level} TIMEOUT ${seconds} SKIP_RETURN_CODE 77
    ENVIRONMENT "NUNA_TEST_BUILD=${CMAKE_BINARY_DIR};NUNA_TEST_SOURCE=${PROJECT_SOURCE_DIR}")
  if(arg_RESOURCE_LOCK)
    set_tests_properties(${name} PROPERTIES RESOURCE_LOCK "${arg_RESOURCE_LOCK}")
  endif()
endfunction()
