# Installation, in four components that are also installed one by one (cmake --install <build> --component <name>):
#   runtime        the shared library
#   development    headers, the link name, the packages for find_package(Nuna) and pkg-config, machine descriptions,
#                  the script for gdb
#   tools          the programs nuna-*, and what find_package(Nuna COMPONENTS tools) needs
#   documentation  guides, and the examples as a project of their own
# Nothing that is installed names the build, the source or the prefix: the folder may be copied or moved.

set(NUNA_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Nuna)
set(NUNA_DATA_DIR ${CMAKE_INSTALL_DATADIR}/nuna)
set(NUNA_DOC_DIR ${CMAKE_INSTALL_DATAROOTDIR}/doc/nuna)

install(TARGETS nuna EXPORT NunaTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${NUNA_DOC_DIR} COMPONENT runtime)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/api/include/nuna ${PROJECT_BINARY_DIR}/include/nuna
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development FILES_MATCHING PATTERN *.hpp PATTERN *.h)
if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/docs/machines)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/machines DESTINATION ${NUNA_DATA_DIR} COMPONENT development
    FILES_MATCHING PATTERN *.toml)
endif()

install(FILES ${PROJECT_SOURCE_DIR}/tools/gdb/nuna.py DESTINATION ${NUNA_DATA_DIR}/gdb COMPONENT development)

# find_package(Nuna). The tools are a file of their own, so that there is a package without them.
include(CMakePackageConfigHelpers)
install(EXPORT NunaTargets NAMESPACE Nuna:: DESTINATION ${NUNA_PACKAGE_DIR} COMPONENT development)
get_property(tools GLOBAL PROPERTY NUNA_TOOLS)
list(TRANSFORM tools PREPEND Nuna:: OUTPUT_VARIABLE NUNA_TOOL_TARGETS)
if(tools)
  install(EXPORT NunaToolsTargets NAMESPACE Nuna:: DESTINATION ${NUNA_PACKAGE_DIR} COMPONENT tools)
endif()
get_property(NUNA_CUDA_ARCHITECTURES GLOBAL PROPERTY NUNA_CUDA_ARCHITECTURES)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/NunaConfig.cmake.in ${PROJECT_BINARY_DIR}/NunaConfig.cmake
  INSTALL_DESTINATION ${NUNA_PACKAGE_DIR} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/NunaConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/NunaConfig.cmake ${PROJECT_BINARY_DIR}/NunaConfigVersion.cmake
  ${CMAKE_CURRENT_LIST_DIR}/NunaKernels.cmake
  DESTINATION ${NUNA_PACKAGE_DIR} COMPONENT development)

# pkg-config nuna.
file(RELATIVE_PATH NUNA_PREFIX_FROM_PKGCONFIG /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" NUNA_PREFIX_FROM_PKGCONFIG "${NUNA_PREFIX_FROM_PKGCONFIG}")
configure_file(${CMAKE_CURRENT_LIST_DIR}/nuna.pc.in ${PROJECT_BINARY_DIR}/nuna.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/nuna.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

# What is read. Guides link to each other and to README.md as in the source.
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
  DESTINATION ${NUNA_DOC_DIR} COMPONENT documentation)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${NUNA_DOC_DIR} COMPONENT documentation
  FILES_MATCHING PATTERN *.md)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${NUNA_DATA_DIR} COMPONENT documentation
  FILES_MATCHING PATTERN *.cpp PATTERN *.hpp PATTERN *.md PATTERN CMakeLists.txt)
