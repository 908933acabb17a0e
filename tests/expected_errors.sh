#!/bin/bash
# Checks the errors that a program finds in a text, stated at their places: expected_errors.sh FILE
# COMMAND...
#
# FILE consists of sections that begin with `//--- NAME`, or is one; text above the first is
# ignored. COMMAND is run with each section as its last argument. It must end with 1 and report
# exactly the errors that the section states, or end with 0 if it states none:
#   %6 = send out[p0, (x-1)] to X+1  // expected-error: matching: message 4 of stream 0
#   // expected-error@-1: ...        one more error of the line above
#   // expected-error: ...           alone in its line: an error that names no place
# An error is at a line if it says `FILE:LINE:COLUMN: error: ` or `error: op %6 (...): `. A stated
# text is a part of the message.
#
# With TORC_UPDATE_TESTS=1 wrong statements are rewritten in FILE: in the source tree, under
# `TORC_UPDATE_TESTS=1 bazel run //tests/ir:verifier_faults_test`.
set -u
file=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Sections: $work/NUMBER.tir, its first line and name in $work/sections.
awk -v work="$work" '
  function begin(name) { ++count; section = work "/" count ".tir"; printf "" >section; print NR, count, name >(work "/sections") }
  /^\/\/--- / { begin($2); next }
  count == 0 { head[NR] = $0; next }
  { print >section }
  END { if (count == 0) {
    print 0, 1, "-" >(work "/sections"); for (i = 1; i <= NR; ++i) print head[i] >(work "/1.tir") } }
' "$file"

status=0
while read -r first number name; do
  section=$work/$number.tir
  "$@" "$section" >"$work/out" 2>&1 </dev/null
  code=$?
  # What is stated: KIND LINE MESSAGE, with the line in the section, 0 for no place.
  awk '
    !match($0, /\/\/ expected-error(@-[0-9]+)?: /) { next }
    {
      mark = substr($0, RSTART, RLENGTH); line = NR
      if (match(mark, /[0-9]+/)) line = NR - substr(mark, RSTART, RLENGTH)
      else if ($0 ~ /^ *\/\/ expected-error: /) line = 0
      message = $0; sub(/.*\/\/ expected-error(@-[0-9]+)?: /, "", message)
      print "expected " line " " message
    }' "$section" >"$work/expected"
  # What is reported.
  awk -v section="$section" '
    FILENAME == section { if (match($0, /^ *%[0-9]+ = /)) { place[$1] = FNR } next }
    index($0, section ":") == 1 && /: error: / {
      rest = substr($0, length(section) + 2); line = rest; sub(/:.*/, "", line)
      sub(/^[^ ]*: error: /, "", rest); print "actual " line " " rest; next
    }
    /^error: op %[0-9]+ \(.*\): / {
      rest = $0; sub(/^error: op %[0-9]+ \([^)]*\): /, "", rest)
      print "actual " place[$3] + 0 " " rest; next
    }
    /^(torc: )?error: / { rest = $0; sub(/^(torc: )?error: /, "", rest); print "actual 0 " rest }
  ' "$section" "$work/out" >"$work/actual"
  awk -v file="$file" -v first="$first" -v name="$name" -v code="$code" '
    { kind = $1; line = $2; message = substr($0, length(kind) + length(line) + 3) }
    kind == "expected" { ++stated; at[stated] = line; what[stated] = message; next }
    {
      ++reported
      for (i = 1; i <= stated; ++i)
        if (!met[i] && at[i] == line && index(message, what[i]) > 0) { met[i] = 1; next }
      fault(line, "not stated: " message)
    }
    function fault(line, text) { bad = 1; printf "%s:%d: error: %s: %s\n", file, first + line, name, text }
    END {
      for (i = 1; i <= stated; ++i) if (!met[i]) fault(at[i], "not reported: " what[i])
      if (code != (reported > 0 ? 1 : 0)) fault(0, "exit status " code)
      exit bad
    }' "$work/expected" "$work/actual" && continue
  status=1
  [[ ${TORC_UPDATE_TESTS:-0} == 1 ]] || { cat "$work/out"; continue; }
  # The section with what is reported.
  awk '
    $1 == "actual" && FILENAME ~ /actual$/ {
      message = substr($0, length($1) + length($2) + 3); number = ++errors[$2]
      error[$2, number] = message; next
    }
    FNR == 1 { for (i = 1; i <= errors[0]; ++i) print "// expected-error: " error[0, i] }
    /^ *\/\/ expected-error(@-[0-9]+)?: / { next }
    {
      sub(/ *\/\/ expected-error: .*/, "")
      indent = $0; sub(/[^ ].*/, "", indent)
      print (errors[FNR] > 0 ? $0 "  // expected-error: " error[FNR, 1] : $0)
      for (i = 2; i <= errors[FNR]; ++i) print indent "// expected-error@-" i - 1 ": " error[FNR, i]
    }' "$work/actual" "$section" >"$work/new"
  mv "$work/new" "$section"
done <"$work/sections"

if [[ $status -ne 0 && ${TORC_UPDATE_TESTS:-0} == 1 ]]; then
  {
    awk '/^\/\/--- / { exit } { print }' "$file" >"$work/head"
    while read -r first number name; do
      ((first == 0)) || { ((number > 1)) || cat "$work/head"; echo "//--- $name"; }
      cat "$work/$number.tir"
    done <"$work/sections"
  } >"$work/all"
  cat "$work/all" >"$(readlink -f "$file")" && echo "$file: written anew"
  exit 0
fi
exit $status
