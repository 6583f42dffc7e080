#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check_ends.sh WORD COMMAND...: the command ends by itself within a minute, with a failure, and says WORD (- for anything).
set -uo pipefail
word=$1
shift
said=$(timeout -k 5 60 "$@" 2>&1)
code=$?
echo "$said"
echo "exit code $code"
[ "$code" != 0 ] && [ "$SECONDS" -lt 55 ] || exit 1  # a killed process and a time limit may have the same code
[ "$word" = - ] || grep -q "$word" <<<"$said"
