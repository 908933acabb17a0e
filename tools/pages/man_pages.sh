#!/usr/bin/env bash
# Man pages made of the table of options of each program: man_pages.sh FOLDER PROGRAM...
# One for each program, and one for each command: torc-library-build.1; of the variables of `torc info`, torc.7.
set -euo pipefail
folder=$1
shift
mkdir -p "$folder"

for program in "$@"; do
  name=$(basename "$program")
  version=$("$program" --version | awk '{ print $2 }')
  "$program" --table >"$folder/table"
  awk -F '\t' -v folder="$folder" -v program="$name" -v version="$version" '
    function safe(text) { gsub(/\\/, "\\\\", text); gsub(/-/, "\\-", text); return text }
    function begin(name, about) {
      page = folder "/" name ".1"
      printf ".TH %s 1 \"\" \"torc %s\"\n.SH NAME\n%s \\- %s\n", toupper(name), version, safe(name), safe(about) >page
    }
    function rest(text) { printf "%s", text >page }
    function end() {
      if (page == "") return
      rest(".SH EXIT STATUS\n" safe(status == "" ? "0 on success, 1 on a fault in the input, 2 on wrong usage" : status) ".\n")
      if (example != "") rest(".SH EXAMPLES\n.nf\n" safe(example) "\n.fi\n")
      rest(".SH SEE ALSO\n" (others == "" ? ".BR torc (1),\n" : others) ".BR torc (7)\n")
      others = ""
    }
    NR == FNR { if ($3 ~ /^[A-Z[]/) arguments[$1] = arguments[$1] " " $3; if ($3 == "") ++commands; next }
    FNR == 1 && commands > 1 {
      begin(program, "schedules of MPI collectives on torus networks")
      rest(".SH SYNOPSIS\n" program " COMMAND [OPTION]...\n.SH COMMANDS\n")
      while ((getline line <FILENAME) > 0) {
        split(line, column, FS)
        if (column[3] != "") continue
        rest(".TP\n.B " safe(column[1]) "\n" safe(column[7]) "\n")
        gsub(/ /, "-", column[1])
        others = others ".BR " safe(program "-" column[1]) " (1),\n"
      }
    }
    $3 == "" {
      spoken = commands > 1 ? program " " $1 : program
      name = spoken; gsub(/ /, "-", name)
      end()
      example = $4
      status = $5
      begin(name, $7)
      rest(".SH SYNOPSIS\n" spoken " [OPTION]..." arguments[$1] "\n.SH OPTIONS\n")
      heading = ""
      next
    }
    $3 ~ /^[A-Z[]/ { next }
    {
      if ($2 != heading) rest(".SS " safe(heading = $2) "\n")
      term = ""
      count = split($3, names, ",")
      for (i = 1; i <= count; ++i)
        term = term (i > 1 ? ", " : "") (heading ~ /--with/ ? "" : length(names[i]) > 1 ? "--" : "-") names[i]
      rest(".TP\n.B " safe(term ($4 == "" ? "" : "=" $4)) "\n" safe($7 ($5 == "" ? "" : " (default " $5 ")")) ".\n")
    }
    END { end() }' "$folder/table" "$folder/table"
done
rm -f "$folder/table"

for program in "$@"; do
  [[ $(basename "$program") == torc ]] || continue
  env -i "$program" info | awk '
    function safe(text) { gsub(/\\/, "\\\\", text); gsub(/-/, "\\-", text); return text }
    NR == 1 {
      print ".TH TORC 7 \"\" \"" $0 "\"\n.SH NAME\ntorc \\- environment variables of jobs that torc serves\n.SH ENVIRONMENT\n.ad l"
      next
    }
    /^TORC_/ { printf ".TP\n.B %s\n", safe($0); next }
    / now: / { next }
    NF > 0 { sub(/^ +/, ""); print safe($0) }
    END { print ".SH SEE ALSO\n.BR torc (1),\n.BR torc\\-info (1),\n.BR torc\\-launch (1)" }' >"$folder/torc.7"
done
