#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check_subproject.sh PREFIX COMPILER CONSUMER BUILD: what sfft does to a project that adds it as a folder. It sets no entry in the
# cache that does not begin with its name, compiles no GPU code without being asked, and takes the standard of the project.
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/CMakeLists.txt" <<TEXT
cmake_minimum_required(VERSION 3.25)
project(host LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 23)
add_subdirectory("$source" sfft)
TEXT
cmake -S "$folder" -B "$folder/build" -G Ninja -DCMAKE_CXX_COMPILER="$2" >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
# CMake itself keeps where it found packages.
foreign=$(sed -nE 's/^([A-Za-z0-9_]+):[A-Z]+=.*/\1/p' "$folder/build/CMakeCache.txt" |
  grep -vE '^(CMAKE_|SFFT_|sfft_|host_|_|FIND_PACKAGE_MESSAGE_DETAILS_|(Eigen3|fmt|nlohmann_json|pkgcfg)_?)' || true)
[ -z "$foreign" ] || { echo "set in the cache of the enclosing project:"; echo "$foreign"; exit 1; }
! grep -qE '\.cu(\.o)?\b' "$folder/build/build.ninja" || { echo "GPU code is compiled without being asked for"; exit 1; }
# Compilers of which CMake knows no C++23 are asked for what they have.
! grep -qE 'std=(c|gnu)\+\+20' "$folder/build/build.ninja" || { echo "the standard of the project is not used"; exit 1; }
grep -q 'std=' "$folder/build/build.ninja"
