#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check_configuration.sh PREFIX COMPILER CONSUMER: a program that is compiled for other standard containers or strings than the library
# does not link, and the linker's message says why in words.
set -euo pipefail
library=$(find "$1" -name libsfft.so)
[ -n "$library" ] || exit 77
macros=$("$2" -std=c++20 -dM -E -x c++ - <<<'#include <cstddef>')
grep -q __GLIBCXX__ <<<"$macros" || exit 77
exported=$(nm -D --defined-only "$library")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# try SENTENCE OPTION...: links if the library was built with the same options; otherwise the message has the sentence.
try() {
  local sentence=sfft_must_be_built_$1_because_this_program_is text linked=1
  shift
  text=$("$compiler" -std=c++20 "$@" -I"$prefix/include" "$consumer/main.cpp" -L"$(dirname "$library")" -lsfft \
    -Wl,-rpath,"$(dirname "$library")" -o "$work/program" 2>&1) || linked=0
  if grep -q "$sentence" <<<"$exported"; then
    [ "$linked" = 1 ] || { echo "$*: does not link:"; echo "$text"; exit 1; }
    "$work/program"
  else
    [ "$linked" = 0 ] || { echo "$*: links"; exit 1; }
    grep -q "$sentence" <<<"$text" || { echo "$*: no word of '$sentence' in:"; echo "$text"; exit 1; }
  fi
}
prefix=$1 compiler=$2 consumer=$3
debug=-U_GLIBCXX_DEBUG strings=1
! grep -q built_with_GLIBCXX_DEBUG <<<"$exported" || debug=-D_GLIBCXX_DEBUG
! grep -q built_with_GLIBCXX_USE_CXX11_ABI_0 <<<"$exported" || strings=0
try with_GLIBCXX_DEBUG -D_GLIBCXX_USE_CXX11_ABI=$strings -D_GLIBCXX_DEBUG
try without_GLIBCXX_DEBUG -D_GLIBCXX_USE_CXX11_ABI=$strings -U_GLIBCXX_DEBUG
try with_GLIBCXX_USE_CXX11_ABI_0 $debug -D_GLIBCXX_USE_CXX11_ABI=0
try with_GLIBCXX_USE_CXX11_ABI_1 $debug -D_GLIBCXX_USE_CXX11_ABI=1
