#compdef torc torc-model
# Completion of zsh for torc and torc-model: subcommands and options, as the help of the installed program has them.
local program=$words[1] command=$words[2]
local -a commands found
# "library build:what it does", and so on.
commands=(${(f)"$($program --help 2>/dev/null | sed -n 's/^  \([a-z][a-z]*\( [a-z][a-z]*\)\{0,1\}\) *- \(.*\)/\1:\3/p')"})
if ((CURRENT == 2)); then
  found=(${(u)${(M)commands:#* *:*}/ *:*/:its commands follow} ${commands:#[a-z]## *} "help:what a command does")
  _describe command found
elif ((CURRENT == 3)) && [[ -n ${(M)commands:#$command *:*} ]]; then
  found=(${${(M)commands:#$command *}#$command })
  _describe command found
elif [[ $words[CURRENT] == -* ]]; then
  local -a subcommand=($command)
  [[ -z ${(M)commands:#$command *:*} ]] || subcommand+=($words[3])
  found=(${(f)"$($program $subcommand --help 2>/dev/null |
    sed -n 's/^  \(--\{0,1\}[a-z][a-z-]*=\{0,1\}\)\( \{0,1\}<[^>]*>\)\{0,1\} *- \(.*\)/\1:\3/p')"})
  _describe -o option found -S ''
else
  _files
fi
