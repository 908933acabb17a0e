#!/bin/bash
# many_communicators_test.sh PRELOAD PROGRAM WITH_NONBLOCKING LIBRARY
# Programs with many simultaneous communicators run as without torc, up to MPI's limit; torc serves
# the first of them.
set -u
source tests/checks.sh
preload=$PWD/$1 program=$PWD/$2 nonblocking=$PWD/$3 library=$PWD/$4

# run RANKS KIND N [NAME=VALUE...] [threads] [nonblocking]
run() {
  case="$*"
  local ranks=$1 kind=$2 number=$3 variables=() threads=() started=$program
  shift 3
  for argument in "$@"; do
    if [[ $argument == threads ]]; then
      threads=("$argument")
    elif [[ $argument == nonblocking ]]; then
      started=$nonblocking
    else
      variables+=(-genv "${argument%%=*}" "${argument#*=}")
    fi
  done
  rm -f "$work/table"
  timeout --kill-after=3 100 tools/mpiexec.sh -genv LD_PRELOAD "$preload" -genv TORC_LIBRARY "$library" \
    -genv TORC_STATS "$work/table" "${variables[@]}" -n "$ranks" "$started" "$kind" "$number" \
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
# The first 128.
[[ $(served) -gt 250 ]] || fail "$(served) calls are served"
[[ ${TEST_MPI-} == openmpi ]] || run 2 mixed 2045

for kind in idup split cart chain; do
  run 2 "$kind" 160 nonblocking
  [[ $kind == split || $(served) -gt 800 ]] || fail "$(served) calls are served"
done
run 2 inter 60 nonblocking
run 2 idup 160
run 2 dup 160 TORC_TUNE=1
run 2 dup 160 threads
run 4 row 160
run 4 split 160
