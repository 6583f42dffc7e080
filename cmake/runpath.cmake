# SPDX-License-Identifier: Apache-2.0
# sfft_runpath(TARGET [PATH...]): sets where an installed target finds shared libraries: PATH, and the folders outside
# this project from which it was linked. The build tree has the same paths. If they differed, CMake would end them with
# a ':', so as to change them on installation. That empty entry means the current directory, whose libraries would be
# loaded and run.
function(sfft_runpath target)
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "${ARGN}" INSTALL_RPATH_USE_LINK_PATH ON
                                             BUILD_WITH_INSTALL_RPATH ON)
endfunction()
