#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check_components.sh PREFIX COMPILER: find_package() takes the components that an installation has, and names the one that it lacks.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# configures COMPONENT: what CMake prints
configures() {
  cat >"$folder/CMakeLists.txt" <<TEXT
cmake_minimum_required(VERSION 3.25)
project(components LANGUAGES CXX)
find_package(sfft CONFIG REQUIRED COMPONENTS $1)
TEXT
  rm -rf "$folder/build"
  cmake -S "$folder" -B "$folder/build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$compiler" 2>&1
}
prefix=$1 compiler=$2
configures cpu >/dev/null || { echo "the component cpu is missing"; exit 1; }
if text=$(configures gpu); then
  echo "the component gpu, which sfft does not have, is found"
  exit 1
fi
grep -q "no component gpu" <<<"$text" || { echo "the missing component is not named:"; echo "$text"; exit 1; }
