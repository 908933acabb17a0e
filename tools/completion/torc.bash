# Completion of bash for torc and torc-model: subcommands and options, as the help of the installed program has them.
_torc() {
  local word=${COMP_WORDS[COMP_CWORD]} program=${COMP_WORDS[0]} command=${COMP_WORDS[1]-} commands words=
  commands=$("$program" --help 2>/dev/null | sed -n 's/^  \([a-z][a-z]*\( [a-z][a-z]*\)\?\) *- .*/\1/p')
  if ((COMP_CWORD == 1)); then
    words="$(cut -d ' ' -f 1 <<<"$commands") help"
  elif [[ $'\n'$commands == *$'\n'"$command "* && $COMP_CWORD == 2 ]]; then
    words=$(sed -n "s/^$command //p" <<<"$commands")
  elif [[ $word == -* ]]; then
    [[ $'\n'$commands != *$'\n'"$command "* ]] || command+=" ${COMP_WORDS[2]}"
    compopt -o nospace
    # shellcheck disable=SC2086
    words=$("$program" $command --help 2>/dev/null | sed -n 's/^  \(--\?[a-z][a-z-]*=\?\).*/\1/p')
  else
    compopt -o default
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word" | sort -u)
}
complete -F _torc torc torc-model
