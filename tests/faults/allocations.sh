#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# allocations.sh PRELOAD FROM STEP RUNS PROGRAM [run|learn|guard|vibration] [lasting]: every allocation from FROM on, in steps, fails once;
# lasting: so do all that follow it.
set -euo pipefail
preload=$1 program=$5 command=${6:-}
[ "${7:-}" = lasting ] && export SFFT_FAIL_LASTING=1
export SFFT_FAIL_FROM=$2 SFFT_FAIL_STEP=$3 SFFT_FAIL_RUNS=$4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# Five frames of a texture that moves, of printable characters.
LC_ALL=C awk 'BEGIN {
  printf "YUV4MPEG2 W32 H24 F25:1 Cmono\n"
  for (t = 0; t < 5; ++t) {
    printf "FRAME\n"
    for (y = 0; y < 24; ++y) for (x = 0; x < 32; ++x) printf "%c", int(80 + 20 * sin((x + t) / 3) + 15 * cos(y / 4 + t / 9))
  }
}' >"$folder/film.y4m"
mkdir "$folder/out"
export SFFT_FAIL_FOLDER=$folder/out
case "$command" in
  run) arguments=(run "$folder/film.y4m" --k 8 --verify 2 --threads 2 --json "$folder/out/json" --csv "$folder/out/csv" --html "$folder/out/html") ;;
  learn) arguments=(learn "$folder/film.y4m" --k 8 --frames 3 -o "$folder/out/template") ;;
  guard) arguments=(guard "$folder/film.y4m" --json "$folder/out/json" --html "$folder/out/html") ;;
  vibration) arguments=(vibration "$folder/film.y4m" --fps 100 --json "$folder/out/json" --html "$folder/out/html") ;;
  *) arguments=("$folder/out") ;;
esac
LD_PRELOAD=$preload "$program" "${arguments[@]}"
