#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check_headers.sh PREFIX COMPILER: only the public headers are installed, each compiles alone
# without a warning, and none names CUDA.
set -euo pipefail
expected="dense.hpp dense_compact.hpp dense_convolution.hpp dense_options.hpp dense_selective.hpp dense_slabs.hpp dense_trigonometric.hpp device.hpp discover.hpp error.hpp export.hpp frequencies.hpp
learn_at.hpp log.hpp page_locked.hpp plan.hpp run_control.hpp samples.hpp sfft.hpp storage.hpp template.hpp tracker.hpp types.hpp workspace.hpp"
[ ! -f "$1/include/sfft/mpi.hpp" ] || expected="$expected mpi.hpp"  # where MPI was found; it compiles without
found=$(cd "$1/include/sfft" && find . -type f -printf '%P\n' | LC_ALL=C sort)
wanted=$(printf '%s\n' $expected | LC_ALL=C sort)
[ "$found" = "$wanted" ] || { echo "installed headers, expected (<) and found (>):"; diff <(echo "$wanted") <(echo "$found"); exit 1; }
for header in $expected; do
  echo "#include \"sfft/$header\"" | "$2" -std=c++20 -Wall -Wextra -Wshadow -Werror -I"$1/include" -fsyntax-only -x c++ -
done
! grep -rniE 'cuda_runtime|__device__|__global__' "$1/include"

# What a compiler says about an older standard and about unsupported samples: one sentence that says what to change.
says() {
  local text
  text=$("$2" "-std=$1" -I"$prefix/include" -fsyntax-only -x c++ - 2>&1) && { echo "it compiles: $3"; exit 1; }
  grep -q "$3" <<<"$text" || { echo "no word of '$3' in:"; echo "$text"; exit 1; }
  [ "$(wc -l <<<"$text")" -le 30 ] || { echo "more than 30 lines:"; echo "$text"; exit 1; }
}
prefix=$1
says c++17 "$2" "sfft needs C++20" <<<'#include <sfft/sfft.hpp>'
says c++20 "$2" "sfft takes samples of" <<<'#include <sfft/sfft.hpp>
#include <vector>
auto view = sfft::SignalView::line(std::vector<long>(8));'
says c++20 "$2" "one to three dimensions" <<<'#include <sfft/sfft.hpp>
sfft::Shape shape{1, 2, 3, 4};'
