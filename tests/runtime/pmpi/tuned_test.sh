#!/bin/bash
# tuned_test.sh MPI_TEST PRELOAD PROGRAM SAY_MPIS_OWN LIBRARY REPEATED
# A tuned library says that MPI's own allreduce is faster: it serves them, without an error under
# TORC_STRICT, and torc the rest; also again and again, where it is known that calls are MPI's.
set -eu
mpi_test=$1
preload=$2
program=$3
say_mpis_own=$4
library=$5
repeated=$6
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$say_mpis_own" "$library" "$work/tuned" allreduce
TORC_LIBRARY=$work/tuned TORC_STATS=$work/statistics.txt \
  "$mpi_test" "--preload=$preload" 6 "$program" >"$work/stdout" 2>"$work/stderr"
fail() {
  echo "tuned_test: $*"
  cat "$work/stdout" "$work/stderr" "$work/statistics.txt"
  exit 1
}
[[ $(cat "$work/stdout") == 18183 ]] || fail "the result is $(cat "$work/stdout")"
grep -q "MPI_Allreduce .* MPI's own was measured to be faster\$" "$work/statistics.txt" ||
  fail "allreduces are not MPI's"
grep -q '^  MPI_Allgather .*\.torc$' "$work/statistics.txt" || fail "the allgather was not served"

TORC_LIBRARY=$work/tuned TORC_STATS=$work/statistics.txt TORC_COLLECTIVES=allreduce,allgather \
  "$mpi_test" "--preload=$preload" 6 "$repeated" >"$work/stdout" 2>"$work/stderr"
[[ $(cat "$work/stdout") == "40 40 40" ]] || fail "results of repeated calls are wrong"
# Those that MPI refuses have a row of their own. Its lines in one:
sed -z -i 's/\n   \+/  /g' "$work/statistics.txt"
grep -qE "MPI_Allreduce .* MPI's own was measured to be faster +8 +6 +240 " "$work/statistics.txt" ||
  fail "not all repeated allreduces are MPI's"
grep -qE "MPI_Allreduce .* an argument that MPI refuses .* 6 +24 " "$work/statistics.txt" ||
  fail "not all refused allreduces are told of"
grep -qE "MPI_Bcast .* TORC_COLLECTIVES leaves it out .* 6 +240 " "$work/statistics.txt" ||
  fail "not all repeated broadcasts are MPI's"
grep -qE '^  MPI_Allgather .*\.torc .* 6 +240 ' "$work/statistics.txt" ||
  fail "not all repeated allgathers are served"
