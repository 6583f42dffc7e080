#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes the manual page of sfft-video from the program's own help: make_man.sh SFFT_VIDEO >sfft-video.1
set -eu
program=$1

# Escapes text for troff: backslashes, and dots or quotes at the start of a line.
verbatim() {
  printf '.nf\n'
  sed -e 's/\\/\\e/g' -e 's/^\([.'"'"']\)/\\\&\1/' -e 's/-/\\-/g'
  printf '.fi\n'
}

version=$("$program" --version)
version=${version%%$'\n'*}
printf '.TH SFFT\\-VIDEO 1 "" "%s" "User Commands"\n' "$version"
printf '.SH NAME\nsfft\\-video \\- transform recordings and cameras at the frequencies that matter\n'
printf '.SH DESCRIPTION\n'
"$program" --help | verbatim
for command in $("$program" --help | sed -nE '/^Subcommands:/,/^$/s/^  ([a-z]+) .*/\1/p'); do
  printf '.SH "SFFT\\-VIDEO %s"\n' "$(echo "$command" | tr '[:lower:]' '[:upper:]')"
  "$program" "$command" --help | verbatim
done
