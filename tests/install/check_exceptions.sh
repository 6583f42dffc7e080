#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check_exceptions.sh PREFIX COMPILER CONSUMER: programs and plug-ins whose symbols are hidden catch the errors of sfft and sfft-mpi by
# their type.
set -euo pipefail
library=$(find "$1" -name libsfft.so)
[ -n "$library" ] || exit 77
libraries=$(dirname "$library")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
options=(-std=c++20 -O1 -fvisibility=hidden -I"$1/include" -L"$libraries" -Wl,-rpath,"$libraries")
"$2" "${options[@]}" -fPIC -shared "$3_plugin/plugin.cpp" -lsfft -o "$work/plugin.so"
mpi=()
[ ! -e "$libraries/libsfft-mpi.so" ] || mpi=(-DWITH_MPI -lsfft-mpi)
# At fixed and at any address: the linker may copy type information into programs at fixed addresses.
for position in -no-pie -pie; do
  kind=-fPIE
  [ "$position" = -pie ] || kind=-fno-pie
  "$2" "${options[@]}" "$kind" "$position" "$3_plugin/main.cpp" "${mpi[@]}" -lsfft -ldl -o "$work/main"
  "$work/main" "$work/plugin.so"
done
