#!/bin/bash
# whole_vectors_test.sh MPI_TEST PRELOAD PROGRAM LIBRARY RANKS
# Operations of the program on predefined datatypes are given whole vectors, and are served all the
# same; with TORC_USER_OPERATIONS=parts they are given parts.
set -u
export TORC_LIBRARY=$4
export TORC_STATS=$TEST_TMPDIR/statistics.txt
failures=0
fail() {
  echo "whole_vectors_test: $*"
  failures=$((failures + 1))
}
"$1" "--preload=$2" "$5" "$3" || fail "a vector is cut"
for function in MPI_Allreduce MPI_Iallreduce MPI_Allreduce_init MPI_Reduce MPI_Scan MPI_Exscan; do
  sed -z 's/\n   \+/  /g' "$TORC_STATS" | grep -q "^  $function  *.*\.torc .*, user's\$" || fail "$function was not served"
done
TORC_TUNE=1 "$1" "--preload=$2" "$5" "$3" || fail "a vector is cut by what TORC_TUNE tries"
TORC_USER_OPERATIONS=parts "$1" "--preload=$2" "$5" "$3" cut >"$TEST_TMPDIR/stdout" ||
  fail "no vector is cut: $(cat "$TEST_TMPDIR/stdout")"
[[ $failures -eq 0 ]] || cat "$TORC_STATS"
exit "$((failures > 0))"
