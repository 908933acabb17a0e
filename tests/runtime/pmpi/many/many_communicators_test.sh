#!/bin/bash
# many_communicators_test.sh PRELOAD PROGRAM LIBRARY
# Programs with many communicators at once run as without torc, up to what MPI can have; torc serves
# those that are used, however many there are.
set -u
preload=$PWD/$1
program=$PWD/$2
library=$PWD/$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset XML_OUTPUT_FILE TEST_PREMATURE_EXIT_FILE
failures=0

fail() {
  echo "many_communicators_test: $case: $*"
  cat "$work/output"
  failures=$((failures + 1))
}

# run RANKS KIND N [NAME=VALUE...] [threads]
run() {
  case="$*"
  local ranks=$1 kind=$2 number=$3 variables=() threads=()
  shift 3
  for argument in "$@"; do
    if [[ $argument == threads ]]; then
      threads=("$argument")
    else
      variables+=(-genv "${argument%%=*}" "${argument#*=}")
    fi
  done
  rm -f "$work/table"
  timeout --kill-after=3 100 tools/mpiexec.sh -genv LD_PRELOAD "$preload" -genv TORC_LIBRARY "$library" \
    -genv TORC_STATS "$work/table" "${variables[@]}" -n "$ranks" "$program" "$kind" "$number" \
    "${threads[@]}" </dev/null >"$work/output" 2>&1 || fail "exit status $?"
  [[ $(cat "$work/output") == "$kind: $number communicators, 0 wrong" ]] || fail "other lines"
}

# Calls of the whole torus that torc has served, on all ranks.
served() {
  sed -z 's/\n   \+/  /g' "$work/table" |
    awk '$1 == "MPI_Allreduce" && $3 ~ /\.torc$/ { calls += $6 } END { print calls + 0 }'
}

# MPICH can have 2046 besides its own, and the program has that of a half; Open MPI more.
run 2 dup $([[ ${TEST_MPI-} == openmpi ]] && echo 300 || echo 2045)
# The last one and the first are used much, and so are served in the end.
[[ $(served) -gt 1000 ]] || fail "$(served) calls are served"

for kind in idup split cart chain; do
  run 2 "$kind" 60 TORC_COMMUNICATORS=4 TORC_NONBLOCKING=1
  [[ $kind == split || $(served) -gt 1000 ]] || fail "$(served) calls are served"
done
run 2 inter 60 TORC_NONBLOCKING=1
run 2 idup 60 TORC_COMMUNICATORS=4
run 2 dup 60 TORC_COMMUNICATORS=4 TORC_TUNE=1
run 2 dup 60 TORC_COMMUNICATORS=4 threads
run 2 dup 60 TORC_COMMUNICATORS=0
[[ $(served) -eq 0 ]] || fail "$(served) calls are served"
run 4 row 30 TORC_COMMUNICATORS=3
run 4 split 30 TORC_COMMUNICATORS=3

[[ $failures -eq 0 ]] || echo "many_communicators_test: $failures failures"
exit "$((failures > 0))"
