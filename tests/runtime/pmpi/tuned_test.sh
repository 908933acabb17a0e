#!/bin/bash
# tuned_test.sh MPI_TEST PRELOAD PROGRAM SAY_MPIS_OWN LIBRARY
# A tuned library says that MPI's own allreduce is faster: it serves them, without an error under
# TORC_STRICT, and torc the rest.
set -eu
mpi_test=$1
preload=$2
program=$3
say_mpis_own=$4
library=$5
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
