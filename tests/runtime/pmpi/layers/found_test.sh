#!/bin/bash
# found_test.sh PRELOAD LIBRARY PROGRAM
# A program that finds MPI's functions in MPI's own library (MPICH's): results are right, torc
# serves the calls that reach it, and reports if none do.
set -u
source tests/checks.sh
preload=$1 program=$3
export TORC_LIBRARY=$2

# run WHAT: the table of calls, and in $work/stderr what is told.
run() {
  rm -f "$work/statistics.txt"
  TORC_STATS=$work/statistics.txt \
    tools/mpi_test.sh "--preload=$preload" 4 "$program" libmpich.so.12 "$1" 2>"$work/stderr" ||
    fail "$1: $(cat "$work/stderr")"
  [[ ! -e $work/statistics.txt ]] || cat "$work/statistics.txt"
}

[[ -z $(run all) ]] || fail "a table of calls of a job that torc has not seen"
[[ $(cat "$work/stderr") == "torc: warning: MPI_Init was called past libtorc_pmpi.so,"* ]] ||
  fail "all: told: $(cat "$work/stderr")"
run calls | grep -q '^Calls served by torc: 20,' || fail "calls: the nonblocking ones are not served"
[[ ! -s $work/stderr ]] || fail "calls: told: $(cat "$work/stderr")"
# Torc ends with MPI where its MPI_Finalize is not called.
run end | grep -q '^Calls served by torc: 40,' || fail "end: not all calls are served"
[[ ! -s $work/stderr ]] || fail "end: told: $(cat "$work/stderr")"
