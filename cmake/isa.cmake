# SPDX-License-Identifier: Apache-2.0
# Hot loops are compiled once per instruction set and chosen at run time (kernels/cpu/platform/isa.hpp). Their sources
# include nothing that instantiates the standard library's templates. Otherwise AVX code could end up in a symbol that a
# baseline machine also uses.
set(SFFT_ISAS baseline)
set(SFFT_ISA_FLAGS_baseline "")
set(SFFT_ISA_BYTES_baseline 16)
if(NOT SFFT_BASELINE_ONLY AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  list(APPEND SFFT_ISAS avx2 avx512)
  set(SFFT_ISA_FLAGS_avx2 -mavx2 -mfma -mf16c)
  set(SFFT_ISA_BYTES_avx2 32)
  set(SFFT_ISA_FLAGS_avx512 -mavx512f -mavx512vl -mavx512dq -mavx512bw -mavx2 -mfma -mf16c -mprefer-vector-width=512)
  set(SFFT_ISA_BYTES_avx512 64)
endif()

# sfft_isa_sources(FILE...): compiles each file once per instruction set, with SFFT_ISA (a namespace
# name) and SFFT_VECTOR_BYTES defined.
function(sfft_isa_sources)
  foreach(isa IN LISTS SFFT_ISAS)
    set(library sfft_kernels_${isa})
    if(NOT TARGET ${library})
      add_library(${library} OBJECT)
      target_include_directories(${library} PRIVATE "${PROJECT_SOURCE_DIR}")
      target_compile_definitions(${library} PRIVATE SFFT_ISA=${isa} SFFT_VECTOR_BYTES=${SFFT_ISA_BYTES_${isa}})
      target_compile_options(${library} PRIVATE ${SFFT_ISA_FLAGS_${isa}} -fno-math-errno -fno-trapping-math
                             -Wno-psabi)
      if(SFFT_BUILD_FUZZ)  # unrolled arithmetic without branches on the input; clang would instrument it for minutes
        target_compile_options(${library} PRIVATE -fno-sanitize=fuzzer-no-link)
      endif()
      sfft_warnings(${library})
      set_property(GLOBAL APPEND PROPERTY SFFT_OBJECT_LIBRARIES ${library})
    endif()
    foreach(source IN LISTS ARGN)
      target_sources(${library} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/${source}")
    endforeach()
  endforeach()
endfunction()
