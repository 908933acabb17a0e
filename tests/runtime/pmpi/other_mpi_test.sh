#!/bin/bash
# other_mpi_test.sh MPI_TEST MPICH_PRELOAD MPICH_PROGRAM MPICH_CALLER OPENMPI_PRELOAD OPENMPI_PROGRAM
#   OPENMPI_CALLER
# A program that is started with the interposer of the other MPI runs without torc, and one line says
# why. A CALLER needs MPI by a library of its own only, so that torc's MPI is found first.
set -u
mpi_test=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

# expectRun MPI PRELOAD PROGRAM LINE
expectRun() {
  TORC_STATS=1 TEST_MPI=$1 "$mpi_test" "--preload=$2" 4 "$3" >"$work/stdout" 2>"$work/stderr"
  local status=$?
  [[ $status -eq 0 && $(grep '^torc' "$work/stderr") == "$4" ]] && return
  echo "other_mpi_test: $1: $3: exit status $status, expected: $4"
  cat "$work/stdout" "$work/stderr"
  failures=$((failures + 1))
}

for program in "$6" "$7"; do
  expectRun openmpi "$2" "$program" \
    "torc: warning: this libtorc_pmpi.so is for MPICH, and the program uses Open MPI; torc is off"
done
for program in "$3" "$4"; do
  expectRun mpich "$5" "$program" \
    "torc: warning: this libtorc_pmpi.so is for Open MPI, and the program uses MPICH; torc is off"
done
exit "$((failures > 0))"
