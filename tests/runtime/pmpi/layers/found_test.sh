#!/bin/bash
# found_test.sh MPI_TEST PRELOAD LIBRARY PROGRAM
# A program that finds MPI's functions in MPI's own library (MPICH's): results are right, torc serves
# what it sees, and says so where it sees nothing.
set -u
mpi_test=$1
preload=$2
export TORC_LIBRARY=$3
program=$4
failures=0
fail() {
  echo "found_test: $*"
  failures=$((failures + 1))
}

# run WHAT: the table of calls, and in $TEST_TMPDIR/stderr what is told.
run() {
  rm -f "$TEST_TMPDIR/statistics.txt"
  TORC_STATS=$TEST_TMPDIR/statistics.txt \
    "$mpi_test" "--preload=$preload" 4 "$program" libmpich.so.12 "$1" 2>"$TEST_TMPDIR/stderr" ||
    fail "$1: $(cat "$TEST_TMPDIR/stderr")"
  [[ ! -e $TEST_TMPDIR/statistics.txt ]] || cat "$TEST_TMPDIR/statistics.txt"
}

[[ -z $(run all) ]] || fail "a table of calls of a job that torc has not seen"
[[ $(cat "$TEST_TMPDIR/stderr") == "torc: warning: MPI_Init was called past libtorc_pmpi.so,"* ]] ||
  fail "all: told: $(cat "$TEST_TMPDIR/stderr")"
run calls | grep -q '^Calls served by torc: 20,' || fail "calls: the nonblocking ones are not served"
[[ ! -s $TEST_TMPDIR/stderr ]] || fail "calls: told: $(cat "$TEST_TMPDIR/stderr")"
# Torc ends with MPI where its MPI_Finalize is not called.
run end | grep -q '^Calls served by torc: 40,' || fail "end: not all calls are served"
[[ ! -s $TEST_TMPDIR/stderr ]] || fail "end: told: $(cat "$TEST_TMPDIR/stderr")"
exit "$((failures > 0))"
