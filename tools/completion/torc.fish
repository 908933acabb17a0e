# Completion of fish for torc and torc-model, which know their commands, options and values themselves.
function __torc_words
    set -l words (commandline -opc) (commandline -ct)
    set -l found ($words[1] --complete $words[2..] 2>/dev/null)
    if test -n "$found"
        printf '%s\n' $found
    else
        __fish_complete_path $words[-1]
    end
end
complete -c torc -f -a '(__torc_words)'
complete -c torc-model -f -a '(__torc_words)'
