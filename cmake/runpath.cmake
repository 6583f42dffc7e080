# SPDX-License-Identifier: Apache-2.0
# sfft_runpath(TARGET [PATH...]): where an installed target finds shared libraries: PATH, and the folders outside this
# project that it was linked from. The build tree has the same paths. Had it others, CMake would end them with a ':',
# to change them when it installs; an empty entry means the current directory, whose libraries would be loaded and run.
function(sfft_runpath target)
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "${ARGN}" INSTALL_RPATH_USE_LINK_PATH ON
                                             BUILD_WITH_INSTALL_RPATH ON)
endfunction()
