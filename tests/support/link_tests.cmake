# SPDX-License-Identifier: Apache-2.0
# Makes links to a program of several test files: -DPROGRAM=FILE -DNAMES=NAME:NAME... See sfft_test_program.
get_filename_component(folder "${PROGRAM}" DIRECTORY)
get_filename_component(target "${PROGRAM}" NAME)
string(REPLACE : ";" names "${NAMES}")
foreach(name IN LISTS names)
  file(CREATE_LINK "${target}" "${folder}/${name}" SYMBOLIC)
endforeach()
