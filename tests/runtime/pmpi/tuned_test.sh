#!/bin/bash
# tuned_test.sh PRELOAD PROGRAM SAY_TUNED LIBRARY REPEATED
# A tuned library says that MPI's own allreduce is faster: it serves them, without an error under
# TORC_STRICT, and torc the rest; also in repeated calls, whose fallback is cached.
set -u
source tests/checks.sh
export TORC_STATS=$work/table
preload=$1 program=$2 say_tuned=$3 library=$4 repeated=$5
export TORC_LIBRARY=$work/tuned
"$say_tuned" "$library" "$work/tuned" allreduce 3x2 mpi >"$work/files" || fail "no tuned library"
preloaded 6 "$program" || fail "exit status $?"
[[ $(cat "$work/stdout") == 18183 ]] || fail "the result is $(cat "$work/stdout")"
grep -q "MPI_Allreduce .* MPI was measured to be faster\$" "$work/table" || fail "allreduces are not MPI's"
grep -q '^  MPI_Allgather .*\.torc$' "$work/table" || fail "the allgather was not served"

preloaded 6 TORC_COLLECTIVES=allreduce,allgather "$repeated" || fail "exit status $?"
[[ $(cat "$work/stdout") == "40 40 40" ]] || fail "results of repeated calls are wrong"
# Those that MPI refuses have a row of their own. Its lines in one:
sed -z -i 's/\n   \+/  /g' "$work/table"
for row in "MPI_Allreduce .* MPI was measured to be faster +8 +6 +240 " \
  "MPI_Allreduce .* an argument that MPI rejects .* 6 +24 " \
  "MPI_Bcast .* TORC_COLLECTIVES excludes it .* 6 +240 " '^  MPI_Allgather .*\.torc .* 6 +240 '; do
  grep -qE "$row" "$work/table" || fail "no row $row"
done
