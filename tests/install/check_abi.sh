#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check_abi.sh PREFIX COMPILER CONSUMER BUILD VERSION: the public types have the layout of abi.xml, which programs that are
# linked to this version of the ABI rely on (the exported functions are check_symbols.sh's). abidiff (libabigail) compares
# them. SFFT_ACCEPT_ABI=1 writes the file.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
command -v abidiff >/dev/null || { echo "no abidiff: install abigail-tools (Debian, Ubuntu), libabigail (Fedora)"; exit 77; }
command -v python3 >/dev/null || exit 77
# The file is of 64-bit x86 processors, written with GCC and libstdc++ as it is by default.
macros=$(echo '#include <string>' | "$2" -dM -E -x c++ -)
for macro in __x86_64__ __GLIBCXX__ "_GLIBCXX_USE_CXX11_ABI 1"; do grep -q " $macro" <<<"$macros" || exit 77; done
! grep -qE ' (__clang__|_GLIBCXX_DEBUG) ' <<<"$macros" || exit 77

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 "$here/abi_probe.py" "$here/../.." >"$folder/probe.cpp"
(cd "$folder" && "$2" -std=c++20 -g -fPIC -shared -I"$1/include" probe.cpp -o probe.so)
cat >"$folder/rules" <<'RULES'
[suppress_type]
  name_regexp = ^(std|__gnu_cxx)::
  drop = yes
RULES
if [ "${SFFT_ACCEPT_ABI:-0}" = 1 ]; then
  abidw --suppressions "$folder/rules" --no-corpus-path --no-comp-dir-path --no-show-locs --no-elf-needed --no-parameter-names \
    --no-write-default-sizes --out-file "$here/abi.xml" "$folder/probe.so"
fi
code=0
abidiff --suppressions "$folder/rules" --no-added-syms --no-show-locs "$here/abi.xml" "$folder/probe.so" || code=$?
((code == 0)) || {
  echo "The layout of public types has changed. Programs that are linked to version $5 would read it wrongly: restore it, or
raise the version that the SONAME contains. Before this version is released: SFFT_ACCEPT_ABI=1 ctest -R '^install\.(install|abi)\$'"
  exit 1
}
