#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check_runpath.sh PREFIX COMPILER CONSUMER BUILD: what is installed, and the programs and libraries of the build tree,
# look for libraries in absolute folders or beside themselves, never in the current directory.
set -euo pipefail
command -v readelf >/dev/null || exit 77
count=0
while read -r file; do
  paths=$(readelf -d "$file" 2>/dev/null | sed -nE 's/.*\((RUNPATH|RPATH)\).*\[(.*)\]$/\2/p')
  count=$((count + 1))
  [ -n "$paths" ] || continue
  # A ':' at either end, or two together, is an empty entry.
  if ! grep -qE '^((/|\$ORIGIN)[^:]*)(:(/|\$ORIGIN)[^:]*)*$' <<<"$paths"; then
    echo "$file: '$paths'"
    exit 1
  fi
done < <(find "$1" "$4/bin" "$4/lib"* -type f \( -perm -u+x -o -name '*.so*' \) 2>/dev/null)
[ "$count" -gt 1 ]  # the library and a program at least
