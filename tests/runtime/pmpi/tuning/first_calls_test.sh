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
  sed -z -i 's/\n   \+/  /g' "$work/table"  # the lines of a row in one
}

# tried FUNCTION BYTES: the calls that were tried of it on MPI_COMM_WORLD, and what serves it since.
tried() {
  sed -n '/^Tried by TORC_TUNE/,/^$/p' "$work/table" |
    awk -v f="$1" -v b="$2" -v t="$torus" '$1 == f && $2 == t && $(NF - 4) == b {
      by = $3; for (i = 4; i < NF - 4; ++i) by = by " " $i; print $(NF - 3), by }' | sort
}

# countRows FUNCTION BYTES CALLS: rows of it on MPI_COMM_WORLD with so many calls, served or not.
countRows() {
  grep -cE "^  $1 +$torus .* $2 +$ranks +$3 +[0-9]+\.[0-9]{6} " "$work/table"
}

# Every candidate has had its twenty calls on each rank, and one of them the others, too.
expectTrial() {
  local function=$1 bytes=$2 all=$3 trial on_trial candidates
  trial=$(tried "$function" "$bytes")
  [[ $(wc -l <<<"$trial") -eq 1 && -n $trial ]] || fail "$function, $bytes bytes: trials: $trial"
  on_trial=${trial%% *}
  candidates=$((on_trial / 20))
  [[ $candidates -ge 2 && $((candidates * 20)) -eq $on_trial ]] ||
    fail "$function, $bytes bytes: $on_trial calls were tried"
  local rest=$(((all - on_trial) * ranks)) losers=$((candidates - 1))
  [[ $(countRows "$function" "$bytes" $((20 * ranks))) -ge $losers ]] ||
    fail "$function, $bytes bytes: not $losers losers with twenty calls on each rank"
  if [[ ${trial#* } == "MPI's own" ]]; then
    grep -qE "^  $function +$torus +MPI was measured to be faster +$bytes +$ranks +$rest " \
      "$work/table" || fail "$function, $bytes bytes: MPI's own has not served $rest calls"
  else
    grep -qE "^  $function +$torus +${trial#* } +$bytes +$ranks +$((rest + 20 * ranks)) " \
      "$work/table" || fail "$function, $bytes bytes: ${trial#* } has not served the rest"
  fi
}

run "tuned" TORC_TUNE=1 TORC_STRICT=1 TORC_VERBOSE=3
expectTrial MPI_Allreduce 2400 "$calls"
expectTrial MPI_Bcast 40 "$calls"
expectTrial MPI_Reduce 40 "$calls"
expectTrial MPI_Gather $((40 * ranks)) "$calls"
expectTrial MPI_Reduce_scatter_block $((24 * ranks)) "$calls"
expectTrial MPI_Alltoall $((24 * ranks)) "$calls"
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

run "off" TORC_TUNE=0
grep -q "tried\|Tried" "$work/table" && fail "something was tried"
run "not set"
grep -q "tried\|Tried" "$work/table" && fail "something was tried"
run "time won" TORC_TUNE=1 TORC_STATS="json:$work/table"
won='"function":"MPI_Allreduce",[^}]*"measured_s":[0-9.e-]+,"measured_mpi_s":[0-9.e-]+\}'
tried='"function":"MPI_Allreduce","communicator":"[^"]*","by":"[^"]*\.torc","call_bytes"'
grep -qE "$tried" "$work/table" && ! grep -qE "$won" "$work/table" && fail "no measured times"
grep -qE '"tuned":\[\{.*"mpi_s"' "$work/table" || fail "no trials"

calls=3
run "neither 0 nor 1" TORC_TUNE=maybe
grep -qx "torc: warning: TORC_TUNE is 'maybe'; allowed: 0 or 1; torc is off" "$work/stderr" ||
  fail "no warning"
run "on one rank only" TORC_TUNE=1 --rank-env=1:TORC_TUNE=0
grep -qx "torc: warning: TORC_TUNE differs between ranks: '1' on rank 0, '0' on rank 1; torc is off" \
  "$work/stderr" || fail "no warning"
