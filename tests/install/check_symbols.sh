#!/usr/bin/env bash
# check_symbols.sh PREFIX: a shared library shows nothing but sfft:: (and what the language makes of it).
set -euo pipefail
library=$(find "$1" -name 'libsfft.so' | head -1)
[ -n "$library" ] || exit 77
shown=$(nm -DC --defined-only "$library" | awk '{$1=$2=""; print}' |
  grep -vE '^ *(sfft::|vtable for sfft::|typeinfo( name)? for sfft::|guard variable for sfft::|non-virtual thunk to sfft::)' |
  grep -vE '^ *(std::|typeinfo( name)? for std::|vtable for std::|void std::|bool std::|.* std::|_init|_fini)' || true)
[ -z "$shown" ] || { echo "$shown"; exit 1; }
readelf -d "$library" | grep -q 'SONAME.*libsfft\.so\.0'
