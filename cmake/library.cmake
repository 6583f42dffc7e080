# SPDX-License-Identifier: Apache-2.0
# The library target sfft::sfft, its installation, and how consumers find it.
include(CMakePackageConfigHelpers)

get_property(_object_libraries GLOBAL PROPERTY SFFT_OBJECT_LIBRARIES)
set(_objects $<TARGET_OBJECTS:sfft_core>)
foreach(_library IN LISTS _object_libraries)
  list(APPEND _objects $<TARGET_OBJECTS:${_library}>)
endforeach()
set(_links Threads::Threads)
if(SFFT_HAVE_FFTW)
  list(APPEND _links ${SFFT_FFTW_THREADS} fftw3f fftw3)
endif()
if(SFFT_HAVE_CUDA)
  list(APPEND _links CUDA::cudart_static CUDA::cufft ${CMAKE_DL_LIBS})
endif()

add_library(sfft ${_objects})
add_library(sfft::sfft ALIAS sfft)
target_link_libraries(sfft PRIVATE ${_links})
target_include_directories(sfft PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}>
                                       $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(sfft PUBLIC cxx_std_20)
target_compile_options(sfft INTERFACE ${SFFT_STANDARD_LIBRARY_OPTIONS})
# Before 1.0 a minor version may change the ABI. Programs keep using the minor version of the library that they were
# linked to.
set(SFFT_SOVERSION ${PROJECT_VERSION_MAJOR})
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(SFFT_SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
endif()
set_target_properties(sfft PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${SFFT_SOVERSION} LINKER_LANGUAGE CXX)
sfft_runpath(sfft)
# Functions, const member functions, type information and virtual tables.
sfft_symbols(sfft "SFFT_${SFFT_SOVERSION}" "_ZN4sfft*" "_ZNK4sfft*" "_ZT[ISV]N4sfft*")
if(NOT BUILD_SHARED_LIBS)
  target_compile_definitions(sfft INTERFACE SFFT_STATIC)
endif()

# For tests and benchmarks that use internals: all objects, and no hidden symbols.
add_library(sfft_internal STATIC EXCLUDE_FROM_ALL ${_objects})
target_link_libraries(sfft_internal PUBLIC ${_links})
target_include_directories(sfft_internal PUBLIC "${CMAKE_CURRENT_SOURCE_DIR}" "${CMAKE_CURRENT_BINARY_DIR}/generated")
set_target_properties(sfft_internal PROPERTIES LINKER_LANGUAGE CXX)
if(SFFT_SANITIZE MATCHES address)
  add_library(sfft_asan_options OBJECT tests/support/asan_options.cpp)
  target_sources(sfft_internal INTERFACE $<TARGET_OBJECTS:sfft_asan_options>)
endif()

# Records what was built, for sfft::version() and build_info().
configure_file(cmake/sfft_build_config.hpp.in generated/sfft_build_config.hpp)

set(SFFT_PUBLIC_HEADERS sfft/dense.hpp sfft/dense_compact.hpp sfft/dense_convolution.hpp sfft/dense_selective.hpp sfft/dense_slabs.hpp sfft/dense_trigonometric.hpp sfft/dense_options.hpp sfft/device.hpp sfft/discover.hpp sfft/error.hpp sfft/export.hpp sfft/frequencies.hpp sfft/learn_at.hpp sfft/log.hpp sfft/page_locked.hpp sfft/plan.hpp sfft/run_control.hpp sfft/samples.hpp sfft/sfft.hpp sfft/storage.hpp
    sfft/template.hpp sfft/tracker.hpp sfft/types.hpp sfft/workspace.hpp)
install(FILES ${SFFT_PUBLIC_HEADERS} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sfft)
install(TARGETS sfft EXPORT sfftTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
set(_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/sfft)
install(EXPORT sfftTargets NAMESPACE sfft:: DESTINATION ${_cmake_dir})
configure_package_config_file(cmake/sfftConfig.cmake.in sfftConfig.cmake INSTALL_DESTINATION ${_cmake_dir})
write_basic_package_version_file(sfftConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/sfftConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/sfftConfigVersion.cmake
        DESTINATION ${_cmake_dir})
set(SFFT_PC_PRIVATE_LIBS "")
if(SFFT_HAVE_FFTW)
  set(SFFT_PC_PRIVATE_LIBS "-lfftw3f -lfftw3")
  if(SFFT_FFTW_THREADS)
    string(PREPEND SFFT_PC_PRIVATE_LIBS "-lfftw3f_threads -lfftw3_threads ")
  endif()
endif()
if(SFFT_HAVE_CUDA)
  string(APPEND SFFT_PC_PRIVATE_LIBS " -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -lcufft -ldl -lrt")
endif()
set(SFFT_PC_CFLAGS "${SFFT_STANDARD_LIBRARY_OPTIONS}")
if(NOT BUILD_SHARED_LIBS)
  string(APPEND SFFT_PC_CFLAGS " -DSFFT_STATIC")
endif()
# The prefix is relative to the file itself, so that an installation can be moved.
file(RELATIVE_PATH SFFT_PC_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file(cmake/sfft.pc.in sfft.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/sfft.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
# The library also embeds this file; here users can read and copy it.
install(FILES kernels/dense/wisdom/h200.json DESTINATION ${CMAKE_INSTALL_DATADIR}/sfft/wisdom)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
