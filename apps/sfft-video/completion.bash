# SPDX-License-Identifier: Apache-2.0
# Completes commands, options and files for sfft-video in bash. The program itself lists them.
_sfft_video() {
  local program=$1 current=${COMP_WORDS[COMP_CWORD]} command="" word
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word != -* ]] && command=$word && break
  done
  COMPREPLY=()
  if [[ $current == -* ]]; then
    local options
    options=$("$program" ${command:+"$command"} --help 2>/dev/null | grep -oE -- '^ +-[^ ]+' | tr -s ' ,' '\n' | grep -E '^-')
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
  elif [[ -z $command ]]; then
    local commands
    commands=$("$program" --help 2>/dev/null | sed -nE '/^Subcommands:/,/^$/s/^  ([a-z]+) .*/\1/p')
    mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
}
complete -o filenames -F _sfft_video sfft-video
