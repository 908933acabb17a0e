# Completion of bash for torc and torc-model, which know their commands, options and values themselves.
_torc() {
  local -a words
  local line=${COMP_LINE:0:COMP_POINT}
  read -ra words <<<"$line"
  [[ $line != *' ' ]] || words+=('')
  mapfile -t COMPREPLY < <("${words[0]}" --complete "${words[@]:1}" 2>/dev/null | cut -f 1 | sed 's/[^=]$/& /')
  # To bash a word begins behind `=`.
  [[ ${words[-1]} != *=* ]] || COMPREPLY=("${COMPREPLY[@]#*=}")
}
complete -o default -o nospace -F _torc torc torc-model
