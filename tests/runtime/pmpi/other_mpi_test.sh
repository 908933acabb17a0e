#!/bin/bash
# other_mpi_test.sh LOADER (PRELOAD PROGRAM CALLER PLUGIN, of MPICH and of Open MPI)
# A program that is started with the interposer of the other MPI runs without torc, and one line
# gives the reason. A CALLER needs MPI only through a library of its own, so that torc's MPI is
# found first; LOADER loads the program as a PLUGIN, and MPI with it.
set -u
source tests/checks.sh
loader=$1
mpich=("${@:2:4}")
openmpi=("${@:6:4}")
# expectRun MPI PRELOAD LINE PROGRAM...
expectRun() {
  TORC_LIBRARY=none TEST_MPI=$1 tools/mpi_test.sh "--preload=$2" 4 "${@:4}" >"$work/stdout" 2>"$work/stderr" ||
    fail "$1: ${*:4}: exit status $?"
  [[ $(grep '^torc' "$work/stderr") == "$3" ]] || fail "$1: ${*:4}: expected: $3"
}
# expectRuns MPI PRELOAD LINE PROGRAM CALLER PLUGIN
expectRuns() {
  expectRun "$1" "$2" "$3" "$4"
  expectRun "$1" "$2" "$3" "$5"
  expectRun "$1" "$2" "$3" "$loader" "$6"
}

expectRuns openmpi "${mpich[0]}" \
  "torc: warning: this libtorc_pmpi.so is for MPICH, and the program uses Open MPI; torc is off" \
  "${openmpi[@]:1}"
expectRuns mpich "${openmpi[0]}" \
  "torc: warning: this libtorc_pmpi.so is for Open MPI, and the program uses MPICH; torc is off" \
  "${mpich[@]:1}"
