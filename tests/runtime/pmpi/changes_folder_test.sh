#!/bin/bash
# changes_folder_test.sh PRELOAD PROGRAM LIBRARY
# Relative paths in variables mean files from the folder in which the program was started, whatever
# folder it changes to, and when.
set -u
source tests/checks.sh
preload=$1 program=$2 library=$3
mkdir "$work/elsewhere"
# The mapping of 3x2 that is its order.
for y in 0 1; do for x in 0 1 2; do echo "$x $y"; done; done >"$work/mapping"

for case in before after; do
  here=$(realpath --relative-to=. "$work")
  preloaded 6 TORC_LIBRARY="$library" TORC_STRICT=1 TORC_STATS="$here/table" TORC_TRACE="$here/trace" \
    TORC_MAPPING="$here/mapping" "$program" "$case" "$work/elsewhere" || fail "exit status $?"
  [[ $(cat "$work/stdout") == $'sum 15\nmaximum 5' ]] || fail "other lines"
  for function in MPI_Allreduce MPI_Reduce; do
    grep -q "^  $function .*\.torc\$" "$work/table" || fail "$function is not served"
  done
  grep -q '"producer":"torc"' "$work/trace" || fail "no trace"
  [[ -z $(ls "$work/elsewhere") ]] || fail "files elsewhere"
  rm -f "$work/trace"
done
