#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check_symbols.sh PREFIX COMPILER CONSUMER BUILD VERSION: a shared library shows nothing but sfft:: (and what the language makes of it).
set -euo pipefail
[ -n "$(find "$1" -name libsfft.so)" ] || exit 77
for library in $(find "$1" -name libsfft.so -o -name libsfft-mpi.so); do
  shown=$(nm -DC --defined-only "$library" | awk '{$1=$2=""; print}' |
    grep -vE '^ *(sfft::|vtable for sfft::|typeinfo( name)? for sfft::|guard variable for sfft::|non-virtual thunk to sfft::)' |
    grep -vE '^ *(std::|typeinfo( name)? for std::|vtable for std::|void std::|bool std::|.* std::|_init|_fini)' || true)
  [ -z "$shown" ] || { echo "$shown"; exit 1; }
  # Compatible versions share a SONAME: 0.3.1 is libsfft.so.0.3, 2.1.0 is libsfft.so.2.
  [[ $5 =~ ^(0\.[0-9]+|[1-9][0-9]*)\. ]]
  dynamic=$(readelf -d "$library")
  grep -qF "[$(basename "$library").${BASH_REMATCH[1]}]" <<<"$dynamic" || { echo "$dynamic"; exit 1; }
done
