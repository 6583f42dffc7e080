#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check_pkg_config.sh PREFIX COMPILER CONSUMER: builds and runs the consumer with pkg-config alone.
set -euo pipefail
command -v pkg-config >/dev/null || exit 77
export PKG_CONFIG_PATH=$(dirname "$(find "$1" -name sfft.pc)")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if pkg-config --cflags sfft | grep -e -std; then
  echo "the language standard is the consumer's to choose"
  exit 1
fi
# shellcheck disable=SC2046
"$2" -std=c++20 "$3/main.cpp" $(pkg-config --cflags --libs sfft) -o "$work/consumer"
LD_LIBRARY_PATH=$(pkg-config --variable=libdir sfft) "$work/consumer"
# sfft-mpi, where it was built and MPI says how to compile.
if pkg-config --exists sfft-mpi && pkg-config --exists mpi-cxx; then
  # shellcheck disable=SC2046
  "$2" -std=c++20 -DOMPI_SKIP_MPICXX "$3_mpi/main.cpp" $(pkg-config --cflags --libs sfft-mpi mpi-cxx) -o "$work/consumer_mpi"
  # Kept whole before it is searched: `ldd | grep -q` ends ldd by SIGPIPE, which pipefail takes for a failure.
  needed=$(LD_LIBRARY_PATH=$(pkg-config --variable=libdir sfft) ldd "$work/consumer_mpi")
  grep -q 'libsfft-mpi.*=> /' <<<"$needed" || { echo "$needed"; exit 1; }
fi
