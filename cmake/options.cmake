# SPDX-License-Identifier: Apache-2.0
# What to build. A subproject builds only the library.
if(PROJECT_IS_TOP_LEVEL)
  option(BUILD_SHARED_LIBS "Build sfft as a shared library" ON)
elseif(NOT DEFINED BUILD_SHARED_LIBS)
  set(BUILD_SHARED_LIBS ON)  # a variable of this folder: the cache of the enclosing project has no say in it, and no entry
endif()
option(SFFT_BUILD_APPS "Build sfft-video" ${PROJECT_IS_TOP_LEVEL})
option(SFFT_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(SFFT_BUILD_BENCH "Build the benchmarks" ${PROJECT_IS_TOP_LEVEL})
option(SFFT_BUILD_BENCH_PROGRAMS "With the benchmarks, the programs in bench/ too, which no test runs" ON)
option(SFFT_WITH_FFTW "Link FFTW into the library as a dense engine for CPUs (GPL: so is the binary then)" OFF)
option(SFFT_PEER_FFTW "Let tests and benchmarks compare with FFTW when it is found; the library stays without" ON)
option(SFFT_WITH_LIBAV "Read recordings and streams with FFmpeg's libraries when they are found" ON)
option(SFFT_WITH_OPENCV "Read cameras and image sequences with OpenCV when it is found; recordings, too, without FFmpeg's libraries" ON)
option(SFFT_WITH_HDF5 "Write spectra as HDF5 when it is found" ON)
option(SFFT_WITH_CUDA "Build the GPU backend when a CUDA compiler is found" ${PROJECT_IS_TOP_LEVEL})
option(SFFT_WITH_MPI "Build sfft-mpi, dense transforms over several processes, when MPI is found" ${PROJECT_IS_TOP_LEVEL})
option(SFFT_WITH_VKFFT "Offer VkFFT for dense transforms on GPUs when its header is found" ON)
option(SFFT_BASELINE_ONLY "Compile the hot loops for the baseline instruction set alone: shorter builds" OFF)
option(SFFT_PRECOMPILE "Precompile what nearly every source includes: shorter first builds, but ccache passes them by" OFF)
option(SFFT_UNITY "Compile the sources of a folder together (CMake's unity builds): shorter complete builds" OFF)
option(SFFT_JOIN_TESTS "Link the tests of a folder into one program, and compile several of its files together: shorter complete builds" OFF)
option(SFFT_BUILD_FUZZ "Link the fuzz targets with clang's libFuzzer; see the preset fuzz" OFF)
option(SFFT_WERROR "Treat warnings as errors" OFF)
set(SFFT_SANITIZE "" CACHE STRING "Sanitizers for every target: address;undefined or thread")

if(SFFT_SANITIZE)
  string(REPLACE ";" "," _sanitizers "${SFFT_SANITIZE}")
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${_sanitizers};-fno-omit-frame-pointer;-fno-sanitize-recover=all>")
  add_link_options(-fsanitize=${_sanitizers})
endif()

# sfft_precompile(TARGET HEADER...): precompiles headers that nearly every source of TARGET includes. Sources with
# different options are excluded by the property SKIP_PRECOMPILE_HEADERS.
function(sfft_precompile target)
  if(SFFT_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()

# sfft_unity(TARGET), after all its sources are added: compiles those of a folder up to 12 at a time. So names in unnamed
# namespaces are unique in a folder. CUDA sources, which newer versions of CMake would join, are compiled alone.
function(sfft_unity target)
  if(NOT SFFT_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    if(source MATCHES "\\.cu$")
      set_property(SOURCE "${source}" TARGET_DIRECTORY ${target} PROPERTY SKIP_UNITY_BUILD_INCLUSION ON)
      continue()
    endif()
    cmake_path(ABSOLUTE_PATH source OUTPUT_VARIABLE folder)
    cmake_path(GET folder PARENT_PATH folder)
    string(MD5 folder "${folder}")
    math(EXPR count_${folder} "0${count_${folder}} + 1")
    math(EXPR part "(${count_${folder}} - 1) / 12")
    set_property(SOURCE "${source}" TARGET_DIRECTORY ${target} PROPERTY UNITY_GROUP "${folder}_${part}")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>")
endfunction()

# A subproject's warnings are not the enclosing project's business, and its -Werror is not for them.
function(sfft_warnings target)
  if(NOT PROJECT_IS_TOP_LEVEL AND NOT SFFT_WERROR)
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:-w>" "$<$<COMPILE_LANGUAGE:CUDA>:-w>")
    return()
  endif()
  # Clang says when a name shadows one of another file that is compiled together with it. Recent releases also say that
  # std::stable_sort of libstdc++ 12 calls what it deprecates.
  set(joined "$<AND:$<CXX_COMPILER_ID:Clang>,$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>")
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-deprecated-declarations>"
    "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<NOT:${joined}>>:-Wshadow>"
    "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wnon-virtual-dtor;$<$<BOOL:${SFFT_WERROR}>:-Werror>>"
    "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,-Wno-unknown-pragmas;$<$<BOOL:${SFFT_WERROR}>:-Werror=all-warnings>>")
endfunction()
