# Installation: the library, the public headers, and a package for find_package(Nuna).

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(NUNA_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Nuna)
install(TARGETS nuna EXPORT NunaTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/api/include/nuna DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN *.hpp PATTERN *.h)
install(EXPORT NunaTargets NAMESPACE Nuna:: DESTINATION ${NUNA_PACKAGE_DIR})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/NunaConfig.cmake.in ${PROJECT_BINARY_DIR}/NunaConfig.cmake
  INSTALL_DESTINATION ${NUNA_PACKAGE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/NunaConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/NunaConfig.cmake ${PROJECT_BINARY_DIR}/NunaConfigVersion.cmake
  DESTINATION ${NUNA_PACKAGE_DIR})
