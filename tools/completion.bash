# Completion of bash for torc: subcommands, and the options that the installed torc has.
_torc() {
  local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]-}
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W "$(torc --help 2>/dev/null | sed -n 's/^  \([a-z][a-z]*\)\( [a-z]*\)\? *- .*/\1/p' | sort -u) help" -- "$word")
    return
  fi
  if [[ $command == library ]]; then
    if ((COMP_CWORD == 2)); then
      mapfile -t COMPREPLY < <(compgen -W "add build diff list verify" -- "$word")
      return
    fi
    command="library ${COMP_WORDS[2]-}"
  fi
  if [[ $word == -* ]]; then
    compopt -o nospace
    # shellcheck disable=SC2086
    mapfile -t COMPREPLY < <(compgen -W "$(torc help $command 2>/dev/null | grep -o -- '^  --\?[a-z][a-z-]*=\?')" -- "$word")
    return
  fi
  compopt -o default
}
complete -F _torc torc
