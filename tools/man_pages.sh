#!/usr/bin/env bash
# Man pages of section 1, made of what the programs say of themselves: man_pages.sh FOLDER PROGRAM...
# One for each program, and one for each subcommand: torc-library-build.1.
set -euo pipefail
folder=$1
shift
mkdir -p "$folder"

# page NAME TITLE HELP-COMMAND...: roff on stdout.
page() {
  local name=$1 title=$2
  shift 2
  printf '.TH %s 1 "" "torc %s"\n.SH NAME\n%s \\- %s\n' "${name^^}" "$version" "$name" "$title"
  "$@" | sed 's/\\/\\\\/g; s/^\./\\\&./; s/-/\\-/g' | awk '
    # An option, or a subcommand, and what is said of it; the columns of the terminal are left to man.
    /^OVERVIEW:|^SUBCOMMAND / { next }
    # Without such headings: what the program does, and the commands that run it.
    NR == 1 { described = $0; next }
    /^  mpiexec/ {
      if (!commands++) print ".SH SYNOPSIS"
      print ".nf\n" substr($0, 3) "\n.fi"; next }
    commands && described && NF { print ".SH DESCRIPTION\n" described; described = "" }
    sub(/^USAGE: /, "") { print ".SH SYNOPSIS\n" $0; next }
    /^[A-Z][A-Z]*:$/ { sub(/:$/, ""); print ".SH " $0; next }
    /^[A-Z].* [Oo]ptions.*:$|^Options of .*:$/ { sub(/:$/, ""); print ".SS " $0; next }
    match($0, /^  (\\-[^ ]+( <[^>]*>)?|[a-z]+( [a-z]+)?) +\\- /) {
      said = substr($0, RLENGTH + 1); term = substr($0, 3, RLENGTH - 5); sub(/ +$/, "", term)
      print ".TP\n.B " term "\n" said; next }
    match($0, /^  \\-[^ ]+( [^ ]+)*(  +|$)/) {
      term = substr($0, 3, RLENGTH - 2); sub(/ +$/, "", term)
      print ".TP\n.B " term "\n" substr($0, RLENGTH + 1); next }
    NF { sub(/^ +/, ""); print; next }
    { print ".PP" }'
}

for program in "$@"; do
  name=$(basename "$program")
  version=$("$program" --version | awk '{ print $2 }')
  help=$("$program" --help)
  title=$(sed -n '1s/^OVERVIEW: [a-z-]*: //p' <<<"$help")
  page "$name" "${title:-$(sed -n '1s/\.$//p' <<<"$help")}" echo "$help" >"$folder/$name.1"
  while read -r words; do
    title=$(sed -n "s/^  $words *- //p" <<<"$help" | head -n 1)
    # shellcheck disable=SC2086
    page "$name-${words// /-}" "$title" "$program" $words --help >"$folder/$name-${words// /-}.1"
  done < <(sed -n '/^SUBCOMMANDS:/,/^OPTIONS:/s/^  \([a-z][a-z]*\( [a-z]*\)\?\) *- .*/\1/p' <<<"$help")
done
