#!/bin/bash
# many_communicators_test.sh PRELOAD PROGRAM WITH_NONBLOCKING LIBRARY
# Programs with many simultaneous communicators run as without torc, up to MPI's limit; torc serves
# the first of them.
set -u
source tests/checks.sh
export TORC_STATS=$work/table TORC_LIBRARY=$4
preload=$1

# run SERVED RANKS VARIABLE KIND N [threads]: torc serves at least SERVED calls of the whole torus, over all ranks.
run() {
  case="$*"
  local calls
  within 100 preloaded "$2" ${3:+"$3"} "$program" "${@:4}" || fail "exit status $status"
  [[ $(cat "$work"/std{out,err}) == "$4: $5 communicators, 0 wrong" ]] || fail "other lines"
  calls=$(servedRows | awk '$1 == "MPI_Allreduce" && $3 ~ /\.torc$/ { calls += $6 } END { print calls + 0 }')
  [[ $calls -ge $1 ]] || fail "$calls calls are served"
}

# MPICH can have 2046 besides its own, and the program has that of a half; Open MPI more. The first 128 are served.
program=$2
if [[ ${TEST_MPI-} == openmpi ]]; then
  run 251 2 '' dup 300
else
  run 251 2 '' dup 2045
  run 0 2 '' mixed 2045
fi
run 0 2 '' idup 160
run 0 2 TORC_TUNE=1 dup 160
run 0 2 '' dup 160 threads
run 0 4 '' row 160
run 0 4 '' split 160
program=$3
run 0 2 '' split 160
for kind in idup cart chain; do run 801 2 '' "$kind" 160; done
run 0 2 '' inter 60
