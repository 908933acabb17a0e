#compdef torc torc-model
# Completion of zsh for torc and torc-model, which know their commands, options and values themselves.
local -a found
found=("${(@f)$($words[1] --complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
found=("${(@)${(@)found//:/\\:}//$'\t'/:}")
if [[ -n ${found[1]} ]]; then
  _describe word found -S ''
else
  _files
fi
