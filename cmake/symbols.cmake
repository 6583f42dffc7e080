# SPDX-License-Identifier: Apache-2.0
# sfft_symbols(TARGET NODE PATTERN...): a shared library exports what is marked SFFT_EXPORT and matches a PATTERN, with
# the version NODE, and nothing else. Code that is compiled for hidden symbols still exports std:: templates, and linked
# static libraries bring global symbols.
include(CheckLinkerFlag)

set(_sfft_symbol_probe "${CMAKE_CURRENT_BINARY_DIR}/symbols_probe.map")
file(WRITE "${_sfft_symbol_probe}" "SFFT { global: sfft*; local: *; };\n")
check_linker_flag(CXX "LINKER:--version-script=${_sfft_symbol_probe}" SFFT_HAVE_VERSION_SCRIPT)

function(sfft_symbols target node)
  get_target_property(type ${target} TYPE)
  if(NOT type STREQUAL "SHARED_LIBRARY" OR NOT SFFT_HAVE_VERSION_SCRIPT)
    return()
  endif()
  set(patterns "")
  foreach(pattern IN LISTS ARGN)
    string(APPEND patterns "    ${pattern};\n")
  endforeach()
  set(map "${CMAKE_CURRENT_BINARY_DIR}/${target}.map")
  file(CONFIGURE OUTPUT "${map}" CONTENT "${node} {\n  global:\n${patterns}  local:\n    *;\n};\n")
  target_link_options(${target} PRIVATE "$<HOST_LINK:LINKER:--version-script=${map}>")
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${map}")
endfunction()
