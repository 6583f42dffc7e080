# SPDX-License-Identifier: Apache-2.0
# The target sfft_format is {fmt} without a library to find at run time. Its code is compiled once, in
# kernels/runtime/format_code.cpp, and linked statically. The alternative, {fmt} as a header in each source, takes a third
# of the build time. If a release of {fmt} needs more of its code than that file emits, it is used header-only.
add_library(sfft_format INTERFACE)
set(_format_probe "${CMAKE_CURRENT_BINARY_DIR}/format_probe")
file(CONFIGURE OUTPUT "${_format_probe}/code.cpp"
     CONTENT "#define FMT_HEADER_ONLY 1\n#include \"${PROJECT_SOURCE_DIR}/kernels/runtime/format_code.cpp\"\n")
file(CONFIGURE OUTPUT "${_format_probe}/use.cpp" CONTENT "#include <fmt/format.h>
int main(int count, char**) {
  const std::string text = fmt::format(\"{} {:>8.3g} {:#x} {:.4f} {:,>12}\", \"a\", 1.5, count, 2.5f, std::string(\"b\"));
  fmt::print(stderr, \"{} {}\", text, 'c');
  fmt::print(\"{}\", 1u);
  return fmt::format(fmt::runtime(text), 1L, true).empty();
}
")
get_target_property(_format_include fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)
try_compile(SFFT_FORMAT_COMPILED_ONCE "${_format_probe}/build" SOURCES "${_format_probe}/code.cpp" "${_format_probe}/use.cpp"
            CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${_format_include}"
            CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)
if(SFFT_FORMAT_COMPILED_ONCE)
  add_library(sfft_format_code STATIC kernels/runtime/format_code.cpp)
  target_link_libraries(sfft_format_code PRIVATE fmt::fmt-header-only)
  set_property(GLOBAL APPEND PROPERTY SFFT_OBJECT_LIBRARIES sfft_format_code)
  target_include_directories(sfft_format SYSTEM INTERFACE ${_format_include})
  target_link_libraries(sfft_format INTERFACE sfft_format_code)
else()
  target_link_libraries(sfft_format INTERFACE fmt::fmt-header-only)
endif()

# sfft_format_ranges(TARGET SOURCE...): lists sources of TARGET that format with fmt::join or <fmt/ranges.h>. They call
# more of {fmt}'s code than that file emits, so they are compiled with all of it. Without this, their undefined
# references name fmt::detail.
function(sfft_format_ranges target)
  set_property(SOURCE ${ARGN} TARGET_DIRECTORY ${target} APPEND PROPERTY COMPILE_DEFINITIONS FMT_HEADER_ONLY=1)
endfunction()
