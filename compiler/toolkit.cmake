# lib/nuna/toolkit: what build systems look for in a CUDA toolkit (CMake's FindCUDAToolkit), in its places, so that nunacc can name
# one: bin/nvcc, include, and in lib64 stand-ins for a toolkit's libraries and the library that they stand for, where loaders
# find it by the path of the others. Of links, in the build tree and where Nuna is installed.

include(GNUInstallDirs)
file(RELATIVE_PATH to_prefix /${CMAKE_INSTALL_LIBDIR}/nuna/toolkit /)  # from the toolkit's folder, with a slash at its end
set(built ${PROJECT_BINARY_DIR}/lib/nuna/toolkit)
set(installed ${PROJECT_BINARY_DIR}/installed-toolkit)
file(REMOVE_RECURSE ${built} ${installed})

function(nuna_toolkit_link folder name target)
  file(MAKE_DIRECTORY ${folder})
  file(CREATE_LINK ${target} ${folder}/${name} SYMBOLIC)
endfunction()

foreach(folder IN ITEMS ${CMAKE_CURRENT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/api/cudart/include)
  file(GLOB headers CONFIGURE_DEPENDS ${folder}/*)
  foreach(header IN LISTS headers)
    get_filename_component(name ${header} NAME)
    nuna_toolkit_link(${built}/include ${name} ${header})
  endforeach()
endforeach()
nuna_toolkit_link(${installed} include ${to_prefix}${CMAKE_INSTALL_INCLUDEDIR}/nuna/cuda)
nuna_toolkit_link(${built}/bin nvcc ../../../../bin/nunacc)
nuna_toolkit_link(${installed}/bin nvcc ../${to_prefix}${CMAKE_INSTALL_BINDIR}/nunacc)

file(GLOB stand_ins CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/stand_ins/*)
foreach(stand_in IN LISTS stand_ins)
  get_filename_component(name ${stand_in} NAME)
  nuna_toolkit_link(${built}/lib64 ${name} ${stand_in})
endforeach()
set(soversion ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
foreach(library IN ITEMS libnuna_cudart.so libnuna_cudart.so.${soversion} libnuna.so.${soversion})
  nuna_toolkit_link(${built}/lib64 ${library} ../../../${library})
  nuna_toolkit_link(${installed}/lib64 ${library} ../../../${library})
endforeach()

if(NUNA_INSTALL)
  install(DIRECTORY ${installed}/ DESTINATION ${CMAKE_INSTALL_LIBDIR}/nuna/toolkit COMPONENT development)
  install(FILES ${stand_ins} DESTINATION ${CMAKE_INSTALL_LIBDIR}/nuna/toolkit/lib64 COMPONENT development)
endif()
