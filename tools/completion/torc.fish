# Completion of fish for torc and torc-model: subcommands and options, as the help of the installed program has them.
function __torc_words
    set -l words (commandline -opc)
    set -l program $words[1]
    set -l word (commandline -ct)
    # "library build", a tabulator, what it does, and so on.
    set -l commands ($program --help 2>/dev/null | sed -n 's/^  \([a-z][a-z]*\( [a-z][a-z]*\)\{0,1\}\) *- \(.*\)/\1\t\3/p')
    set -l nested (string match -- "$words[2] *" $commands)
    if test (count $words) -eq 1
        string replace -r -- ' .*?\t.*' '\tits commands follow' $commands | sort -u
        printf 'help\twhat a command does\n'
    else if test (count $words) -eq 2 -a -n "$nested"
        string replace -- "$words[2] " '' $nested
    else if string match -q -- '-*' $word
        set -l last 2
        test -z "$nested"; or set last 3
        $program $words[2..$last] --help 2>/dev/null |
            sed -n 's/^  \(--\{0,1\}[a-z][a-z-]*=\{0,1\}\)\( \{0,1\}<[^>]*>\)\{0,1\} *- \(.*\)/\1\t\3/p'
    else
        __fish_complete_path $word
    end
end
complete -c torc -f -a '(__torc_words)'
complete -c torc-model -f -a '(__torc_words)'
