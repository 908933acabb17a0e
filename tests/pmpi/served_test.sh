#!/bin/bash
# served_test.sh MPI_TEST PRELOAD PROGRAM LIBRARY RANKS
# Runs the program plain and preloaded; the statistics must say that each collective was served, in
# each form in which the program makes it.
set -u
mpi_test=$1
preload=$2
program=$3
library=$4
ranks=$5
statistics=$TEST_TMPDIR/statistics.txt
failures=0
fail() {
  echo "served_test: $*"
  failures=$((failures + 1))
}

"$mpi_test" "$ranks" "$program" || fail "the program fails without torc"
TORC_LIBRARY=$library TORC_STRICT=1 TORC_STATS=$statistics \
  "$mpi_test" "--preload=$preload" "$ranks" "$program" 2>"$TEST_TMPDIR/stderr" ||
  fail "the program fails with torc"
[[ ! -s $TEST_TMPDIR/stderr ]] || fail "torc had something to say: $(cat "$TEST_TMPDIR/stderr")"
for function in MPI_Allreduce MPI_Iallreduce MPI_Allreduce_init MPI_Reduce_scatter \
  MPI_Reduce_scatter_block MPI_Allgather MPI_Allgatherv MPI_Iallgather; do
  grep -q "^  $function  *.*\.torc\$" "$statistics" || fail "$function was not served"
done
[[ $failures -eq 0 ]] || cat "$statistics"
exit "$((failures > 0))"
