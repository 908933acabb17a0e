#!/bin/bash
# inside_test.sh MPI_TEST PRELOAD PROGRAM LIBRARY
# A program whose ranks wait in a window of MPI's while collectives of torc are under way: it is told
# where that was asked for, once by each rank that does so.
set -u
mpi_test=$1
preload=$2
program=$3
library=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

fail() {
  echo "inside_test: $case: $*"
  cat "$work/stderr"
  failures=$((failures + 1))
}

# run CASE NAME=VALUE... [-- ARGUMENT]: the program, served. Its result is right.
run() {
  case=$1
  shift
  local variables=()
  while [[ $# -gt 0 && $1 != -- ]]; do
    variables+=("$1")
    shift
  done
  env TORC_LIBRARY="$library" TORC_STRICT=1 "${variables[@]}" \
    "$mpi_test" "--preload=$preload" 6 "$program" "${@:2}" >"$work/stdout" 2>"$work/stderr" ||
    fail "the program fails"
  [[ $(cat "$work/stdout") == "6009 14" ]] || fail "the result is $(cat "$work/stdout")"
}

hints() {
  grep -c '^torc: hint:' "$work/stderr"
}

text='MPI_Win_fence waits inside MPI while 2 collectives of torc are under way, which make no progress'
text+=' there; TORC_PROGRESS=thread would'
run "TORC_VERBOSE=1" TORC_VERBOSE=1
for rank in 1 2 3 4 5; do
  grep -qx "torc: hint: rank $rank: $text" "$work/stderr" || fail "no hint by rank $rank"
done
[[ $(hints) -eq 5 ]] || fail "$(hints) hints"

run "nobody asked"
[[ ! -s $work/stderr ]] || fail "torc had something to say"

run "nothing is under way, with threads" TORC_VERBOSE=1 -- threads
[[ $(hints) -eq 0 ]] || fail "a hint"

run "a thread makes progress" TORC_VERBOSE=1 TORC_PROGRESS=thread
[[ $(hints) -eq 0 ]] || fail "a hint"

exit "$((failures > 0))"
