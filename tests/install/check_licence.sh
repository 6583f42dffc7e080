#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check_licence.sh PREFIX: nothing that is installed needs FFTW, which is GPL. Runs where the build did not ask for it.
set -euo pipefail
command -v readelf >/dev/null || exit 77
count=0
while read -r file; do
  needed=$(readelf -d "$file" 2>/dev/null | grep NEEDED || true)
  count=$((count + 1))
  if grep -q 'libfftw' <<<"$needed"; then
    echo "$file needs FFTW: $needed"
    exit 1
  fi
done < <(find "$1" -type f \( -perm -u+x -o -name '*.so*' \))
if grep -ril 'lfftw' "$1" --include='*.pc' --include='*.cmake'; then
  echo "what is installed for consumers names FFTW"
  exit 1
fi
[ "$count" -gt 0 ]
