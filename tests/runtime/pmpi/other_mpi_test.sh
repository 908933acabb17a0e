#!/bin/bash
# other_mpi_test.sh MPI_TEST MPICH_PRELOAD MPICH_PROGRAM OPENMPI_PRELOAD OPENMPI_PROGRAM
# A program that is started with the interposer of the other MPI ends, and one line says why.
set -u
mpi_test=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

# expectRefusal MPI PRELOAD PROGRAM LINE
expectRefusal() {
  TEST_MPI=$1 "$mpi_test" "--preload=$2" 4 "$3" >"$work/stdout" 2>"$work/stderr"
  local status=$?
  [[ $status -ne 0 && $(grep '^torc' "$work/stderr") == "$4" && $status -ne 139 ]] && return
  echo "other_mpi_test: $1: exit status $status, expected: $4"
  cat "$work/stdout" "$work/stderr"
  failures=$((failures + 1))
}

expectRefusal openmpi "$2" "$5" \
  "torc: error: this libtorc_pmpi.so is for MPICH, and the program uses Open MPI"
expectRefusal mpich "$4" "$3" \
  "torc: error: this libtorc_pmpi.so is for Open MPI, and the program uses MPICH"
exit "$((failures > 0))"
