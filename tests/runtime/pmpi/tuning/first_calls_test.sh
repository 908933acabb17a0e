#!/bin/bash
# first_calls_test.sh PRELOAD PROGRAM LIBRARY RANKS TORUS
# TORC_TUNE=1: results are right in every trial; the statistics count the trials and name the
# winner.
set -u
source tests/checks.sh
export TORC_STATS=$work/table
preload=$1 program=$2 library=$3 ranks=$4 torus=$5
calls=200

# run CASE [NAME=VALUE...] [--rank-env=...]: the program with these variables.
run() {
  case=$1
  preloaded "$ranks" TORC_LIBRARY="$library" "${@:2}" "$program" "$calls" || fail "exit status $?"
}

# tried FUNCTION BYTES: the calls that were tried of it on MPI_COMM_WORLD, and what serves it since.
tried() {
  sed -n '/^Tried by TORC_TUNE/,/^$/p' "$work/table" |
    awk -v f="$1" -v b="$2" -v t="$torus" '$1 == f && $2 == t && $(NF - 4) == b {
      by = $3; for (i = 4; i < NF - 4; ++i) by = by " " $i; print $(NF - 3), by }' | sort
}

# Every candidate has had its twenty calls on each rank, and one of them the others, too.
expectTrial() {
  local function=$1 bytes=$2 trial on_trial winner others rows by
  case="tuned: $function, $bytes bytes"
  trial=$(tried "$function" "$bytes")
  on_trial=${trial%% *} winner=${trial#* }
  [[ $(wc -l <<<"$trial") -eq 1 && $on_trial -ge 40 && $((on_trial % 20)) -eq 0 ]] || fail "trials: $trial"
  rows=$(grep -cE "^  $function +$torus .* $bytes +$ranks +$((20 * ranks)) +[0-9]+\.[0-9]{6} " "$work/table")
  [[ $rows -ge $((on_trial / 20 - 1)) ]] || fail "$rows losers with twenty calls on each rank"
  others=$(((calls - on_trial) * ranks)) by="MPI was measured to be faster"
  [[ $winner == "MPI's own" ]] || others=$((others + 20 * ranks)) by=$winner
  grep -qE "^  $function +$torus +$by +$bytes +$ranks +$others " "$work/table" || fail "$winner has not served the rest"
}

run "tuned" TORC_TUNE=1 TORC_STRICT=1 TORC_VERBOSE=3
expectTrial MPI_Allreduce 2400
expectTrial MPI_Bcast 40
expectTrial MPI_Reduce 40
expectTrial MPI_Gather $((40 * ranks))
expectTrial MPI_Reduce_scatter_block $((24 * ranks))
expectTrial MPI_Alltoall $((24 * ranks))
# By operations that do not commute: the library's own choice, and MPI's.
sed -n '/^Tried by/,/^$/p' "$work/table" | grep -qE "^  MPI_Allreduce +$torus .* 12 +40 " ||
  fail "ordered sums"
grep -qE "^  MPI_Alltoallv .*\.torc " "$work/table" || fail "alltoallv was not served"
grep -qE "^torc: rank 0: MPI_Allreduce on $torus, 2400 bytes: tried: allreduce-.* [um]s, .*; from now on " \
  "$work/stderr" || fail "nothing is explained"
grep -qE '^torc: (error|warning|hint)' "$work/stderr" && fail "warnings"
# 25 calls are too few.
grep -q "^Tried by TORC_TUNE: " "$work/table" || fail "no section"
sed -n '/^Tried by/,/^$/p' "$work/table" | grep -q " 156.2K " && fail "a trial has ended early"

run "time won" TORC_TUNE=1 TORC_STATS="json:$work/table"
won='"function":"MPI_Allreduce",[^}]*"measured_s":[0-9.e-]+,"measured_mpi_s":[0-9.e-]+\}'
tried='"function":"MPI_Allreduce","communicator":"[^"]*","by":"[^"]*\.torc","call_bytes"'
grep -qE "$tried" "$work/table" && ! grep -qE "$won" "$work/table" && fail "no measured times"
grep -qE '"tuned":\[\{.*"mpi_s"' "$work/table" || fail "no trials"

calls=3
for off in TORC_TUNE=0 TORC_TUNE=; do
  run "$off" "$off"
  ! grep -q "tried\|Tried" "$work/table" || fail "something was tried"
done
