#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check_symbols.sh PREFIX COMPILER CONSUMER BUILD VERSION: a shared library exports sfft:: and the type information of its error, nothing
# of std::, all with its version node. The symbols are those of exports/, so that every change of the ABI is seen in a
# review. SFFT_ACCEPT_EXPORTS=1 writes these lists, with GCC.
set -euo pipefail
[ -n "$(find "$1" -name libsfft.so)" ] || exit 77
lists=$(dirname "$0")/exports
[[ $5 =~ ^(0\.[0-9]+|[1-9][0-9]*)\. ]]
abi=${BASH_REMATCH[1]}  # compatible versions share it: 0.3 of 0.3.1, 2 of 2.1.0
status=0

# check NAME NODE
check() {
  local library dynamic symbols wrong
  library=$(find "$prefix" -name "$1.so")
  [ -n "$library" ] || return 0
  dynamic=$(readelf -d "$library")
  grep -qF "[$1.so.$abi]" <<<"$dynamic" || { echo "$1: not the SONAME of version $abi:"; echo "$dynamic"; status=1; }

  symbols=$(nm -D --defined-only --with-symbol-versions "$library" | awk -v node="$2" '$2 != "A" || $3 != node {print $3}')
  wrong=$(grep -vE '^(_ZNK?4sfft|_ZT[ISV]N4sfft)' <<<"$symbols" | c++filt || true)
  [ -z "$wrong" ] || { echo "$1 exports symbols that are not of sfft:"; echo "$wrong"; status=1; }
  wrong=$(grep -vE "@@$2\$" <<<"$symbols" | c++filt || true)
  [ -z "$wrong" ] || { echo "$1 exports symbols without the version $2:"; echo "$wrong"; status=1; }

  # The lists hold the names of 64-bit platforms with libstdc++ as it is by default. Clang also exports copy constructors.
  grep -q built_without_GLIBCXX_DEBUG <<<"$exported" && grep -q built_with_GLIBCXX_USE_CXX11_ABI_1 <<<"$exported" || return 0
  [ "$(getconf LONG_BIT)" = 64 ] || return 0
  symbols=$(LC_ALL=C sort <<<"${symbols//@@$2/}")
  [ "${SFFT_ACCEPT_EXPORTS:-0}" != 1 ] || [ "$gcc" = 0 ] || echo "$symbols" >"$lists/$1.txt"
  [ "$gcc" = 1 ] || symbols=$(LC_ALL=C comm -12 "$lists/$1.txt" <(echo "$symbols"))
  wrong=$(diff "$lists/$1.txt" <(echo "$symbols") | c++filt || true)
  [ -z "$wrong" ] || {
    echo "$1 does not export what tests/install/exports/$1.txt lists (<). To accept that: SFFT_ACCEPT_EXPORTS=1 ctest -R '^install\\.(install|symbols)\$'"
    echo "$wrong"
    status=1
  }
}
prefix=$1
macros=$("$2" -dM -E -x c++ /dev/null)
gcc=1
! grep -q __clang__ <<<"$macros" || gcc=0
exported=$(nm -D --defined-only "$(find "$1" -name libsfft.so)")
check libsfft "SFFT_$abi"
check libsfft-mpi "SFFT_MPI_$abi"
exit "$status"
