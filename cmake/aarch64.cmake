# SPDX-License-Identifier: Apache-2.0
# Toolchain file: compiles for aarch64 on another machine, and runs the programs under QEMU's user emulation. Debian's
# packages are g++-aarch64-linux-gnu, qemu-user and googletest (GoogleTest's sources).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)  # GoogleTest names C too
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu)
# {fmt}'s headers are the same for every processor, but Debian keeps its CMake files with the compiled library.
file(GLOB fmt_DIR /usr/lib/*-linux-gnu/cmake/fmt)
