#!/bin/bash
# changes_folder_test.sh MPI_TEST PRELOAD PROGRAM LIBRARY
# Relative paths in variables mean files from the folder in which the program was started, whatever
# folder it changes to, and when.
set -u
mpi_test=$1
preload=$2
program=$3
library=$4
work=$(mktemp -d -p .)
trap 'rm -rf "$work"' EXIT
mkdir "$work/elsewhere"
# The mapping of 3x2 that is its order.
for y in 0 1; do for x in 0 1 2; do echo "$x $y"; done; done >"$work/mapping"
failures=0

fail() {
  echo "changes_folder_test: $when: $*"
  cat "$work/output"
  failures=$((failures + 1))
}

for when in before after; do
  env TORC_LIBRARY="$library" TORC_STRICT=1 TORC_STATS="$work/table" TORC_TRACE="$work/trace" \
    TORC_MAPPING="$work/mapping" "$mpi_test" "--preload=$preload" 6 "$program" "$when" \
    "$work/elsewhere" >"$work/output" 2>&1 || fail "exit status $?"
  [[ $(cat "$work/output") == $'sum 15\nmaximum 5' ]] || fail "other lines"
  for function in MPI_Allreduce MPI_Reduce; do
    grep -q "^  $function .*\.torc\$" "$work/table" || fail "$function is not served"
  done
  grep -q '"producer":"torc"' "$work/trace" || fail "no trace"
  [[ -z $(ls "$work/elsewhere") ]] || fail "files elsewhere"
  rm -f "$work/table" "$work/trace"
done

exit "$((failures > 0))"
